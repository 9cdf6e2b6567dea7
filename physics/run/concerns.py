"""What a command concerns: the step in hand, the course of the run, kernels that were not needed before."""

from . import messages as m

#: commands that leave the course of a run as it is
HARMLESS = (m.Play | m.Pause | m.Step | m.StepToEvent | m.GoToEvent | m.Seek | m.SetSpeed | m.Inspect | m.Watch
            | m.Focus | m.SaveRun)
ENDS = m.Pause | m.Reset | m.Open | m.Compare | m.Shutdown  #: commands that end a run of steps


def interrupts(command: m.Command, asked: bool = False) -> bool:
    """Whether a command makes the work in hand needless, or wants it made otherwise. asked: a command asked for this
    work itself; then it is made before what only comes after it. Pulling ends no step: while a body is dragged such
    commands come all the time."""
    return isinstance(command, ENDS | m.Seek | m.Undo | m.GoToEvent) or (
        not asked and isinstance(command, m.Place | m.Step | m.StepToEvent | m.Set))


def may_need_other_kernels(command: m.Command) -> bool:
    """Whether a command may lead to kernels that were not needed before: another scene, method, solver or view."""
    match command:
        case m.Set(_, value):
            return isinstance(value, str)
        case m.Inspect(view):
            return bool(view)
        case _:
            return isinstance(command, m.Open | m.Compare | m.StudyLinks | m.StudyOrders)
