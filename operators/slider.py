"""Tools with a number under the mouse, as Blender's own sliders."""

from typing import Any, Final

from ..core import CoreError
from ..languages.interface import translated
from .tool import Tool, attempt

_WHEEL: Final = {"WHEELUPMOUSE": 0.05, "WHEELDOWNMOUSE": -0.05}
_CONFIRM: Final = {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}
_CANCEL: Final = {"ESC", "RIGHTMOUSE"}
_WIDTH: Final = 0.5  # of the editor: way of the mouse from one end to the other
_PRECISE: Final = 0.1  # of that, with Shift
_HINTS: Final = "Mouse, wheel: change   Shift: precise   Click, Enter: confirm   Esc: cancel"


class Slider(Tool):
    """A tool whose number follows the mouse and the wheel until a click or Enter; Esc gives everything back."""

    sliding = False

    def slide(self, context: Any, share: float) -> str:
        """Change the number by a share of the way from one end to the other, show it, and return it in words."""
        raise NotImplementedError

    def confirm(self, context: Any) -> set[str]:
        """Do what was chosen; return the operator's result. Raises CoreError, and `give_back` is called then."""
        raise NotImplementedError

    def give_back(self) -> None:
        """Show everything as it was before."""
        raise NotImplementedError

    def start_sliding(self, context: Any, event: Any) -> set[str]:
        """Become modal, once there is something to show."""
        self.sliding, self._mouse, self._width = True, event.mouse_x, _WIDTH * context.area.width
        done = attempt(self, context, event, lambda context, event: self._change(context, 0.0))
        if done == {"RUNNING_MODAL"}:
            context.window_manager.modal_handler_add(self)
        return done

    def modal(self, context: Any, event: Any) -> set[str]:
        if not self.sliding:
            return super().modal(context, event)  # pyright: ignore[reportAttributeAccessIssue]
        return attempt(self, context, event, self._handle)

    def cancel(self, context: Any) -> None:
        """Give everything back; Blender calls this, too, when it closes the file or the window."""
        if not self.sliding:
            super().cancel(context)  # pyright: ignore[reportAttributeAccessIssue]
            return
        self.sliding = False
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        try:
            self.give_back()
        except CoreError:  # it is gone
            return

    def _handle(self, context: Any, event: Any) -> set[str]:
        pressed = event.value == "PRESS"
        if event.type in _CANCEL and pressed:
            self.cancel(context)
            return {"CANCELLED"}
        if event.type in _CONFIRM and pressed:
            context.workspace.status_text_set(None)
            done = self.confirm(context)
            self.sliding = False
            return done
        if event.type == "MOUSEMOVE":
            way = (event.mouse_x - self._mouse) * (_PRECISE if event.shift else 1.0)
            self._mouse = event.mouse_x
            return self._change(context, way / self._width)
        if event.type in _WHEEL and pressed:
            return self._change(context, _WHEEL[event.type])
        return {"RUNNING_MODAL"}

    def _change(self, context: Any, share: float) -> set[str]:
        context.workspace.status_text_set(f"{translated(self.slide(context, share))}   {translated(_HINTS)}")
        return {"RUNNING_MODAL"}
