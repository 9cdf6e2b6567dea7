"""The physics thread and what crosses to and from it, comparisons, studies, warming up."""
