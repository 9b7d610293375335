from typing import Any

import bpy

object: Any = bpy.context.active_object

object.poise_method = "PINS"
object.poise_wins = "PINS"
object.poise_limits = "HARD"
object.poise_use_anatomy_limits = True
object.poise_balance = "FEET"
object.poise_use_stretch = False
object.poise_use_fk_switch = False
object.poise_use_reduce = False
object.poise_joint_targets = "PRESENT"
object.poise_use_strength = True
object.poise_strength = 1.0
object.poise_root = "PULL"
