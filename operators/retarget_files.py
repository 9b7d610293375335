"""Retarget many files to the active armature while Blender stays free for other work."""

import os
from collections.abc import Generator
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from .. import bridge
from ..core import CoreError
from ..edits.clips import MOTIONS
from ..edits.motion_files import NAMING, MotionFiles, check_naming, find_motions, summary
from ..languages.interface import translated
from .lasting import Modal
from .retarget import RetargetOptions
from .tool import chosen_path


class POISE_OT_retarget_files(Modal, RetargetOptions, bpy.types.Operator):
    """Retarget all motions of files or of a folder to the active armature, one action for each"""

    bl_idname = "poise.retarget_files"
    bl_label = "Batch Retarget"
    bl_options = {"UNDO"}  # to adjust it would take as long again

    directory: StringProperty(
        name="Folder",
        description="Folder with the files. If no files are chosen, use all motions in it and its subfolders",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
    )
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    filter_glob: StringProperty(default=";".join(f"*{kind}" for kind in MOTIONS), options={"HIDDEN"})
    naming: StringProperty(
        name="Names",
        description="Name of the actions. {armature}, {file}, {take} and {number} are replaced",
        default=NAMING,
    )
    assets: BoolProperty(name="Mark as Assets", description="Show the actions in the asset browser")
    strips: BoolProperty(name="Add to NLA", description="Add the actions to an NLA track, one after the other")
    jobs: IntProperty(
        name="Processes",
        description="Number of files that are retargeted at the same time, each in a process of its own",
        default=max(1, (os.cpu_count() or 1) - 1),
        min=1,
        max=1024,
        soft_max=64,
    )

    _asked = False  # by the file browser
    _work: Generator[float, None, None]

    def draw(self, context: Any) -> None:
        super().draw(context)
        for name in ("naming", "assets", "strips", "jobs"):
            self.layout.prop(self, name)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        self._asked = True
        if self.directory:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        if not self._asked:
            return super().execute(context)
        try:
            self._begin(context)
        except CoreError as error:
            return self.refuse(error)
        return self.wait(context)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        self._begin(context)
        for _ in self._work:
            pass
        return self._keep(context)

    def _begin(self, context: Any) -> None:
        armature = context.active_object
        check_naming(self.naming)
        folder = chosen_path(self.directory)
        names = [file.name for file in self.files if file.name]
        self._who = armature.name, armature.session_uid, tuple(armature.pose.bones.keys())
        self._motions = MotionFiles(
            context, armature, find_motions([folder / name for name in names] or [folder]), self.words, self.jobs
        )
        self._work = self._motions.work()

    def _keep(self, context: Any) -> tuple[str, str]:
        """Keep what is done, report each file that is short or failed, and return the report on all."""
        armature = bridge.find_again(*self._who)
        rows = self._motions.write(context, armature, self.naming, self.assets, self.strips)
        for row in rows:
            if row.reason:
                self.report({"INFO"}, translated(row.sentence(), "reports"))
        level, sentence = summary(rows)
        return level, sentence + ("; they are listed in the Info editor" if level == "WARNING" else "")

    def work(self, context: Any, seconds: float) -> set[str] | None:
        share = next(self._work, None)
        if share is None:
            return self._end(context)
        self.show(context, share)
        name = translated(self.bl_label)
        hint = f"{name}: {self._motions.done} of {self._motions.count} files; Esc stops and keeps these"
        context.workspace.status_text_set(translated(hint))
        return None

    def _end(self, context: Any) -> set[str]:
        try:
            return self.tell(*self._keep(context))
        except CoreError as error:
            return self.refuse(error)

    def escape(self) -> set[str]:
        return self._end(bpy.context) if self._motions.done else super().escape()

    def modal(self, context: Any, event: bpy.types.Event) -> set[str]:
        done = super().modal(context, event)
        return {"PASS_THROUGH"} if done == {"RUNNING_MODAL"} else done

    def cancel(self, context: Any) -> None:
        if self._timer is not None:  # not where the file browser is left
            self._work.close()
        super().cancel(context)
