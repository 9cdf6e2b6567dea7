"""Where energy and momentum went: ledger, diagnostics, what contacts did."""
