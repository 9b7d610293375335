"""What tools share that choose a pose for the present frame under the mouse."""

from typing import Any

from bpy.props import FloatProperty

from .. import bridge
from ..core import CoreError
from ..edits.breakdown import PoseSlider
from ..edits.words import counted
from .slider import Slider


def factor_property(name: str, description: str) -> Any:
    """Return the property `factor`, which a tool does not keep for its next use."""
    return FloatProperty(
        name=name, description=description, default=0.5, min=0.0, max=1.0, subtype="FACTOR", options={"SKIP_SAVE"}
    )


class PoseTool(Slider):
    """A tool that shows the pose at its `factor`; `of` are the words for that in reports."""

    bl_options = {"REGISTER", "UNDO", "BLOCKING"}
    factor: float
    of: str

    def begin(self, context: Any, armature: Any) -> PoseSlider:
        """Return the poses to choose from; raises CoreError with the reason if there are none."""
        raise NotImplementedError

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        poses = self.begin(context, armature)
        poses.show(armature, self.factor)
        return self._end(context, armature, poses)

    def invoke(self, context: Any, event: Any) -> set[str]:
        armature = context.active_object
        try:
            self._poses = self.begin(context, armature)
        except CoreError as error:
            return self.refuse(error)
        self._who = (armature.name, armature.session_uid, tuple(bone.name for bone in armature.pose.bones))
        self.factor = self._poses.share
        return self.start_sliding(context, event)

    def slide(self, context: Any, share: float) -> str:
        self.factor += share
        self._poses.show(bridge.find_again(*self._who), self.factor)
        return self._blended()

    def confirm(self, context: Any) -> set[str]:
        return self.tell(*self._end(context, bridge.find_again(*self._who), self._poses))

    def give_back(self) -> None:
        self._poses.restore(bridge.find_again(*self._who))

    def _end(self, context: Any, armature: Any, poses: PoseSlider) -> tuple[str, str]:
        keyed = poses.key(context, armature)
        said = "not keyed, since auto-keying is off" if keyed is None else f"{counted(len(keyed), 'bone')} keyed"
        return "INFO", f"{self._blended()}; {said}"

    def _blended(self) -> str:
        return f"{self.factor:.0%} of {self.of}"
