"""A human figure, and what its bones are called in many conventions."""

from collections.abc import Callable, Mapping
from typing import Any

from core import Skeleton
from core.body import Roles
from tests.core.rigs import FIGURE

Row = tuple[str, str | None, Any, Any]

TOES = [(f"toe.{s}", f"foot.{s}", (0.11 * x, -0.12, 0.02), (0.11 * x, -0.2, 0.02)) for s, x in (("L", 1), ("R", -1))]
HUMAN: list[Row] = [
    (name.replace("clavicle", "shoulder"), parent and parent.replace("clavicle", "shoulder"), head, tail)
    for name, parent, head, tail in FIGURE + TOES
]

# Names in the order of this list; {} is the side.
ORDER = ("hips", "spine", "chest", "neck", "head",
         "shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")  # fmt: skip
CONVENTIONS = {
    "Mixamo": (
        "mixamorig1:Hips mixamorig1:Spine mixamorig1:Spine2 mixamorig1:Neck mixamorig1:Head mixamorig1:{}Shoulder"
        " mixamorig1:{}Arm mixamorig1:{}ForeArm mixamorig1:{}Hand mixamorig1:{}UpLeg mixamorig1:{}Leg mixamorig1:{}Foot"
        " mixamorig1:{}ToeBase", "Left", "Right"),
    "MotionBuilder": (
        "Hips LowerBack Spine1 Neck Head {}Shoulder {}Arm {}ForeArm {}Hand {}UpLeg {}Leg {}Foot {}ToeBase",
        "Left", "Right"),
    "Unreal": (
        "pelvis spine_01 spine_02 neck_01 head clavicle_{} upperarm_{} lowerarm_{} hand_{} thigh_{} calf_{} foot_{}"
        " ball_{}", "l", "r"),
    "Unity": (
        "Hips Spine Chest Neck Head {}_Shoulder {}_Upper_Arm {}_Lower_Arm {}_Hand {}_Upper_Leg {}_Lower_Leg {}_Foot"
        " {}_Toes", "Left", "Right"),
    "VRM 1.0": (
        "hips spine chest neck head {}Shoulder {}UpperArm {}LowerArm {}Hand {}UpperLeg {}LowerLeg {}Foot {}Toes",
        "left", "right"),
    "VRoid": (
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_Neck J_Bip_C_Head J_Bip_{}_Shoulder J_Bip_{}_UpperArm"
        " J_Bip_{}_LowerArm J_Bip_{}_Hand J_Bip_{}_UpperLeg J_Bip_{}_LowerLeg J_Bip_{}_Foot J_Bip_{}_ToeBase",
        "L", "R"),
    "MMD": ("腰 上半身 上半身2 首 頭 {}肩 {}腕 {}ひじ {}手首 {}足 {}ひざ {}足首 {}つま先", "左", "右"),
    "MMD in English": (
        "waist upper_body upper_body2 neck head shoulder_{} arm_{} elbow_{} wrist_{} leg_{} knee_{} ankle_{} toe_{}",
        "L", "R"),
    "Daz Genesis 8": (
        "hip abdomenLower chestUpper neckLower head {}Collar {}ShldrBend {}ForearmBend {}Hand {}ThighBend {}Shin {}Foot"
        " {}Toe", "l", "r"),
    "Daz Genesis 9": (
        "hip spine1 spine4 neck1 head {}_shoulder {}_upperarm {}_forearm {}_hand {}_thigh {}_shin {}_foot {}_toes",
        "l", "r"),
    "Character Creator": (
        "CC_Base_Hip CC_Base_Waist CC_Base_Spine02 CC_Base_NeckTwist01 CC_Base_Head CC_Base_{}_Clavicle"
        " CC_Base_{}_Upperarm CC_Base_{}_Forearm CC_Base_{}_Hand CC_Base_{}_Thigh CC_Base_{}_Calf CC_Base_{}_Foot"
        " CC_Base_{}_ToeBase", "L", "R"),
    "3ds Max Biped": (
        "Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Neck Bip01_Head Bip01_{}_Clavicle Bip01_{}_UpperArm"
        " Bip01_{}_Forearm Bip01_{}_Hand Bip01_{}_Thigh Bip01_{}_Calf Bip01_{}_Foot Bip01_{}_Toe0", "L", "R"),
    "Source": (
        "ValveBiped.Bip01_Pelvis ValveBiped.Bip01_Spine ValveBiped.Bip01_Spine4 ValveBiped.Bip01_Neck1"
        " ValveBiped.Bip01_Head1 ValveBiped.Bip01_{}_Clavicle ValveBiped.Bip01_{}_UpperArm ValveBiped.Bip01_{}_Forearm"
        " ValveBiped.Bip01_{}_Hand ValveBiped.Bip01_{}_Thigh ValveBiped.Bip01_{}_Calf ValveBiped.Bip01_{}_Foot"
        " ValveBiped.Bip01_{}_Toe0", "L", "R"),
    "Auto-Rig Pro": (
        "root.x spine_01.x spine_02.x neck.x head.x shoulder.{} arm_stretch.{} forearm_stretch.{} hand.{}"
        " thigh_stretch.{} leg_stretch.{} foot.{} toes_01.{}", "l", "r"),
    "SMPL": (
        "pelvis spine1 spine3 neck head {}_collar {}_shoulder {}_elbow {}_wrist {}_hip {}_knee {}_ankle {}_foot",
        "left", "right"),
    "Maya": (
        "Root_M Spine1_M Chest_M Neck_M Head_M Scapula_{} Shoulder_{} Elbow_{} Wrist_{} Hip_{} Knee_{} Ankle_{}"
        " Toes_{}",
        "L", "R"),
    "numbers": (
        "pelvis spine_01 spine_02 neck head {}_clav {}_arm_01 {}_arm_02 {}_hand {}_leg_01 {}_leg_02 {}_foot {}_toe",
        "L", "R"),
    "a character's name": (
        "Hero_Hips Hero_Spine Hero_Chest Hero_Neck Hero_Head Hero_{}_Shoulder Hero_{}_UpperArm Hero_{}_Forearm"
        " Hero_{}_Hand Hero_{}_Thigh Hero_{}_Shin Hero_{}_Foot Hero_{}_Toe", "L", "R"),
    "no signs": (
        "hips spine chest neck head {}clavicle {}upperarm {}forearm {}hand {}thigh {}calf {}foot {}toe", "l", "r"),
    "Second Life": (
        "mPelvis mTorso mChest mNeck mHead mCollar{} mShoulder{} mElbow{} mWrist{} mHip{} mKnee{} mAnkle{} mFoot{}",
        "Left", "Right"),
    "VRChat": (
        "Hips Spine Chest Neck Head {}_shoulder {}_arm {}_elbow {}_wrist {}_leg {}_knee {}_ankle {}_toe",
        "Left", "Right"),
    "ARKit": (
        "hips_joint spine_1_joint spine_7_joint neck_1_joint head_joint {}_shoulder_1_joint {}_arm_joint"
        " {}_forearm_joint {}_hand_joint {}_upLeg_joint {}_leg_joint {}_foot_joint {}_toes_joint", "left", "right"),
    "Skyrim": (
        "NPC_Pelvis_[Pelv] NPC_Spine_[Spn0] NPC_Spine1_[Spn1] NPC_Neck_[Neck] NPC_Head_[Head] NPC_{}_Clavicle_[Clv]"
        " NPC_{}_UpperArm_[Uar] NPC_{}_Forearm_[Lar] NPC_{}_Hand_[Hnd] NPC_{}_Thigh_[Thg] NPC_{}_Calf_[Clf]"
        " NPC_{}_Foot_[ft] NPC_{}_Toe0_[Toe]", "L", "R"),
    "Xsens in FBX": (
        "Pelvis L5 T8 Neck Head {}Shoulder {}UpperArm {}ForeArm {}Hand {}UpperLeg {}LowerLeg {}Foot {}Toe",
        "Left", "Right"),
    "Roblox": (
        "LowerTorso UpperTorso Chest Neck Head {}Clavicle {}UpperArm {}LowerArm {}Hand {}UpperLeg {}LowerLeg {}Foot"
        " {}Toe", "Left", "Right"),
    "JNT": (
        "C_hips_JNT C_spine01_JNT C_spine02_JNT C_neck_JNT C_head_JNT {}_clavicle_JNT {}_upArm_JNT {}_loArm_JNT"
        " {}_wrist_JNT {}_upLeg_JNT {}_loLeg_JNT {}_ankle_JNT {}_ball_JNT", "L", "R"),
    "SKEL": (
        "SKEL_Pelvis SKEL_Spine0 SKEL_Spine3 SKEL_Neck_1 SKEL_Head SKEL_{}_Clavicle SKEL_{}_UpperArm SKEL_{}_Forearm"
        " SKEL_{}_Hand SKEL_{}_Thigh SKEL_{}_Calf SKEL_{}_Foot SKEL_{}_Toe0", "L", "R"),
    "joints of MVNX": (
        "jL5S1 jL4L3 jT9T8 jT1C7 jC1Head j{}T4Shoulder j{}Shoulder j{}Elbow j{}Wrist j{}Hip j{}Knee j{}Ankle"
        " j{}BallFoot", "Left", "Right"),
    "Reallusion": (
        "RL_BoneRoot Spine Spine02 NeckTwist01 Head {}_Clavicle {}_Upperarm {}_Forearm {}_Hand {}_Thigh {}_Calf {}_Foot"
        " {}_ToeBase", "L", "R"),
    "muscles": (
        "root spine spine.001 neck head clav_{} bicep_{} forearm_{} wrist_{} hip_{} knee_{} ankle_{} toe_{}", "l", "r"),
}  # fmt: skip


def renamed(convention: str) -> dict[str, str]:
    """Name in HUMAN -> name in the convention."""
    text, left, right = CONVENTIONS[convention]
    names = dict(zip(ORDER, text.split(), strict=True))
    sided = {
        f"{n}.{s}": names[n].format(word) for n in names for s, word in (("L", left), ("R", right)) if "{}" in names[n]
    }
    return {name: text for name, text in names.items() if "{}" not in text} | sided


def named(skeleton: Skeleton, roles: Roles) -> dict[str, str | list[str]]:
    names = skeleton.names
    return {role: names[found] if isinstance(found, int) else [names[bone] for bone in found]
            for role, found in roles.bones.items()}  # fmt: skip


def answer(names: Mapping[str, str] | Callable[[str], str] = str) -> dict[str, str | list[str]]:
    """The roles of HUMAN, its bones called otherwise."""
    name = names if callable(names) else names.__getitem__
    sided = {row[0]: name(row[0]) for row in HUMAN if "." in row[0]}
    return {
        "hips": name("hips"),
        "spine": [name("spine"), name("chest")],
        "neck": [name("neck")],
        "head": name("head"),
    } | sided
