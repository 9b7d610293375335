"""Clips of one figure as many programs write them, and which joint is which part.

The names are those of the programs, the figure is that of `figure`. In each table a line is a joint: its name, with
"{}" for the side ("{0}", "{1}": the first letter of it, large, small), and the point of the figure where it lies; its
depth is its number of spaces. The point names the part; "~" before it says that the joint plays none.
"""

from typing import Final

from tests.blender.core.figure import Flavour, fingers, under

_MOTIONBUILDER = """
Hips hips
 {}UpLeg thigh
  {}Leg shin
   {}Foot foot
    {}ToeBase toe
     {}Toe_End ~tiptoe
 Spine spine
  Spine1 spine2
   Spine2 spine3
    Neck neck
     Head head
      HeadTop_End ~top
    {}Shoulder shoulder
     {}Arm upper_arm
      {}ForeArm forearm
       {}Hand hand
"""
_CMU = """
Hips hips
 {0}HipJoint ~buttock
  {}UpLeg thigh
   {}Leg shin
    {}Foot foot
     {}ToeBase toe
 LowerBack spine
  Spine spine2
   Spine1 spine3
    Neck neck
     Neck1 neck2
      Head head
    {}Shoulder shoulder
     {}Arm upper_arm
      {}ForeArm forearm
       {}Hand hand
        {}FingerBase palm.index
         {}HandIndex1 index1
        {0}Thumb thumb1
"""
_BIPED_BVH = """
Hips hips
 {}Hip thigh
  {}Knee shin
   {}Ankle foot
    {}Toe toe
 Chest spine
  Chest2 spine2
   Chest3 spine3
    Chest4 spine4
     Neck neck
      Head head
     {}Collar shoulder
      {}Shoulder upper_arm
       {}Elbow forearm
        {}Wrist hand
"""

_TWO_NECKS = _MOTIONBUILDER.replace("     Head head\n      HeadTop_End ~top", "     Neck1 neck2\n      Head head")
_AT_THE_HIPS = ("LHipJoint", "RHipJoint", "LeftShoulder", "RightShoulder")

# Those whose results were looked at while detection was written, and those that were kept apart from it.
TUNED: Final = {
    "CMU for MotionBuilder": Flavour(_CMU, rest="splayed", zero=("LeftFingerBase", "RightFingerBase")),
    "CMU for 3ds Max": Flavour("""
Hips hips
 {0}HipJoint ~buttock
  {}Hip thigh
   {}Knee shin
    {}Ankle foot
     {}Toe toe
 LowerBack spine
  Spine spine2
   Chest spine3
    Neck neck
     Neck1 neck2
      Head head
    {}Collar shoulder
     {}Shoulder upper_arm
      {}Elbow forearm
       {}Wrist hand
""", rest="I"),
    "CMU, hip joints without length": Flavour(_CMU, rest="I", zero=_AT_THE_HIPS),
    "cgspeed for Daz": Flavour("""
hip hips
 abdomen spine
  chest spine2
   neck neck
    head head
     {}Eye ~eye
   {1}Collar shoulder
    {1}Shldr upper_arm
     {1}ForeArm forearm
      {1}Hand hand
       {1}Thumb1 thumb1
        {1}Thumb2 thumb2
       {1}Index1 index1
        {1}Index2 index2
       {1}Mid1 middle1
        {1}Mid2 middle2
 {1}Buttock ~buttock
  {1}Thigh thigh
   {1}Shin shin
    {1}Foot foot
""", sides=("left", "right")),
    "Character Creator, along one axis": Flavour("""
CC_Base_Hip ~root
 CC_Base_Pelvis hips
  CC_Base_{0}_Thigh thigh
   CC_Base_{0}_Calf shin
    CC_Base_{0}_Foot foot
     CC_Base_{0}_ToeBase toe
    CC_Base_{0}_CalfTwist01 ~shin_twist
   CC_Base_{0}_ThighTwist01 ~thigh_twist
  CC_Base_Waist spine
   CC_Base_Spine01 spine2
    CC_Base_Spine02 spine3
     CC_Base_NeckTwist01 neck
      CC_Base_NeckTwist02 neck2
       CC_Base_Head head
     CC_Base_{0}_Clavicle shoulder
      CC_Base_{0}_Upperarm upper_arm
       CC_Base_{0}_Forearm forearm
        CC_Base_{0}_Hand hand
        CC_Base_{0}_ForearmTwist01 ~wrist_twist
       CC_Base_{0}_UpperarmTwist01 ~arm_twist
""", sides=("Left", "Right"), rest="+Y"),
    "Ubisoft, along one axis": Flavour("""
Hips hips
 {}UpLeg thigh
  {}Leg shin
   {}Foot foot
    {}Toe toe
 Spine spine
  Spine1 spine2
   Spine2 spine3
    Neck neck
     Head head
    {}Shoulder shoulder
     {}Arm upper_arm
      {}ForeArm forearm
       {}Hand hand
""", rest="+X"),
    "Mixamo": Flavour(under("mixamorig:{}Hand", fingers("mixamorig:{}Hand%s%d", count=4),
                      "\n".join(" " * (len(row) - len(row.lstrip())) + "mixamorig:" + row.strip()
                                for row in _MOTIONBUILDER.strip().split("\n")))),
    "Rokoko": Flavour("""
Hips hips
 {}Thigh thigh
  {}Shin shin
   {}Foot foot
    {}Toe toe
     {}ToeTip ~tiptoe
 Spine1 spine
  Spine2 spine2
   Spine3 spine3
    Spine4 spine4
     Neck neck
      Head head
     {}Shoulder shoulder
      {}Arm upper_arm
       {}ForeArm forearm
        {}Hand hand
"""),
    "Xsens": Flavour("""
Hips hips
 Chest spine
  Chest2 spine2
   Chest3 spine3
    Chest4 spine4
     Neck neck
      Head head
     {}Collar shoulder
      {}Shoulder upper_arm
       {}Elbow forearm
        {}Wrist hand
 {}Hip thigh
  {}Knee shin
   {}Ankle foot
    {}Toe toe
"""),
    "100STYLE, along one axis": Flavour(_BIPED_BVH, rest="-Y"),
    "Bandai": Flavour("""
joint_Root ~root
 Hips hips
  Spine spine
   Chest spine3
    Neck neck
     Head head
    Shoulder_{0} shoulder
     UpperArm_{0} upper_arm
      LowerArm_{0} forearm
       Hand_{0} hand
  UpperLeg_{0} thigh
   LowerLeg_{0} shin
    Foot_{0} foot
     Toes_{0} toe
""", rest="~X"),
    "meshes among the joints": Flavour("""
Reference ~root
 Hips hips
  Hips_RIGMESH ~eye
  {}UpLeg thigh
   {}UpLeg_RIGMESH ~tiptoe
   {}Leg shin
    {}Leg_RIGMESH ~tiptoe
    {}Foot foot
     {}Foot_RIGMESH ~palm
     {}ToeBase toe
  Spine spine
   Spine1 spine2
    Neck neck
     Head head
      Head_RIGMESH ~hips
    {}Shoulder shoulder
     {}Arm upper_arm
      {}Arm_RIGMESH ~tiptoe
      {}ForeArm forearm
       {}ForeArm_RIGMESH ~foot
       {}Hand hand
"""),
}  # fmt: skip

APART: Final = {
    "OptiTrack": Flavour(under("{}Hand", fingers("{}Hand%s%d"), _MOTIONBUILDER),
                         rest="T"),
    "Perception Neuron": Flavour(under("{}Hand", """ {}HandThumb1 thumb1
  {}HandThumb2 thumb2
   {}HandThumb3 thumb3
 {}InHandIndex palm.index
  {}HandIndex1 index1
   {}HandIndex2 index2
    {}HandIndex3 index3
 {}InHandMiddle palm.middle
  {}HandMiddle1 middle1
   {}HandMiddle2 middle2
    {}HandMiddle3 middle3
 {}InHandRing palm.ring
  {}HandRing1 ring1
   {}HandRing2 ring2
    {}HandRing3 ring3
 {}InHandPinky palm.pinky
  {}HandPinky1 pinky1
   {}HandPinky2 pinky2
    {}HandPinky3 pinky3""", """
Hips hips
 {}UpLeg thigh
  {}Leg shin
   {}Foot foot
 Spine spine
  Spine1 spine2
   Spine2 spine3
    Spine3 spine4
     Neck neck
      Head head
     {}Shoulder shoulder
      {}Arm upper_arm
       {}ForeArm forearm
        {}Hand hand
"""), zero=("LeftShoulder", "RightShoulder")),
    "Perception Neuron 3, along one axis": Flavour(_TWO_NECKS, rest="-Z"),
    "HumanIK": Flavour(under("{}Hand", fingers("{}Hand%s%d", count=4), """
Reference ~root
 Hips hips
  {}UpLeg thigh
   {}UpLegRoll ~thigh_twist
   {}Leg shin
    {}LegRoll ~shin_twist
    {}Foot foot
     {}ToeBase toe
  Spine spine
   Spine1 spine2
    Spine2 spine3
     Neck neck
      Neck1 neck2
       Head head
     {}Shoulder shoulder
      {}Arm upper_arm
       {}ArmRoll ~arm_twist
       {}ForeArm forearm
        {}ForeArmRoll ~wrist_twist
        {}Hand hand
"""), rest="A"),
    "Biped of 3ds Max": Flavour("""
Bip01 ~root
 Bip01_Pelvis hips
  Bip01_Spine spine
   Bip01_Spine1 spine2
    Bip01_Spine2 spine3
     Bip01_Neck neck
      Bip01_Head head
       Bip01_HeadNub ~top
      Bip01_{0}_Clavicle shoulder
       Bip01_{0}_UpperArm upper_arm
        Bip01_{0}_Forearm forearm
         Bip01_{0}_Hand hand
          Bip01_{0}_Finger0 thumb1
           Bip01_{0}_Finger01 thumb2
          Bip01_{0}_Finger1 index1
           Bip01_{0}_Finger11 index2
          Bip01_{0}_Finger2 middle1
           Bip01_{0}_Finger21 middle2
  Bip01_{0}_Thigh thigh
   Bip01_{0}_Calf shin
    Bip01_{0}_Foot foot
     Bip01_{0}_Toe0 toe
      Bip01_{0}_Toe0Nub ~tiptoe
""", rest="A"),
    "BVH of Character Studio": Flavour("""
Hips hips
 {}Hip thigh
  {}Knee shin
   {}Ankle foot
    {}Toe toe
 Chest spine2
  {}Collar shoulder
   {}Shoulder upper_arm
    {}Elbow forearm
     {}Wrist hand
  Neck neck
   Head head
""", rest="I"),
    "Daz Genesis 8": Flavour("""
hip ~root
 pelvis hips
  {1}ThighBend thigh
   {1}ThighTwist ~thigh_twist
    {1}Shin shin
     {1}Foot foot
      {1}Metatarsals ~toe
       {1}Toe toe
  abdomenLower spine
   abdomenUpper spine2
    chestLower spine3
     chestUpper spine4
      {1}Collar shoulder
       {1}ShldrBend upper_arm
        {1}ShldrTwist ~arm_twist
         {1}ForearmBend forearm
          {1}ForearmTwist ~wrist_twist
           {1}Hand hand
      neckLower neck
       neckUpper neck2
        head head
""", sides=("left", "right"), rest="A"),
    "SFU": Flavour("""
Hips hips
 {}UpLeg thigh
  {}Leg shin
   {}Foot foot
    {}ToeBase toe
 Spine spine
  Spine1 spine2
   Neck neck
    Head head
   {}Shoulder shoulder
    {}Arm upper_arm
     {}ForeArm forearm
      {}Hand hand
       {}HandThumb thumb1
       {0}_Wrist_End ~palm
""", rest="+Z", zero=("LeftShoulder", "RightShoulder")),
    "Unreal": Flavour("""
root ~root
 pelvis hips
  spine_01 spine
   spine_02 spine2
    spine_03 spine3
     clavicle_{1} shoulder
      upperarm_{1} upper_arm
       lowerarm_{1} forearm
        hand_{1} hand
        lowerarm_twist_01_{1} ~wrist_twist
       upperarm_twist_01_{1} ~arm_twist
     neck_01 neck
      head head
  thigh_{1} thigh
   calf_{1} shin
    foot_{1} foot
     ball_{1} toe
    calf_twist_01_{1} ~shin_twist
   thigh_twist_01_{1} ~thigh_twist
 ik_foot_root ~root
  ik_foot_{1} ~foot
""", sides=("left", "right"), rest="A"),
    "SMPL": Flavour("""
Pelvis hips
 {0}_Hip thigh
  {0}_Knee shin
   {0}_Ankle foot
    {0}_Foot toe
 Spine1 spine
  Spine2 spine2
   Spine3 spine3
    Neck neck
     Head head
    {0}_Collar shoulder
     {0}_Shoulder upper_arm
      {0}_Elbow forearm
       {0}_Wrist hand
        {0}_Hand ~palm
"""),
    "Kinect": Flavour("""
SpineBase hips
 SpineMid spine2
  SpineShoulder spine4
   Neck neck
    Head head
   Shoulder{} upper_arm
    Elbow{} forearm
     Wrist{} hand
      Hand{} ~palm
 Hip{} thigh
  Knee{} shin
   Ankle{} foot
    Foot{} toe
"""),
    "Move, helpers beside joints": Flavour("""
Root ~root
 Hips hips
  {}UpLeg thigh
   {}Leg shin
    {}Foot foot
     {}Heel ~heel
     {}Toe toe
    {}LegHelper ~heel
  Spine spine
   Spine1 spine2
    Spine2 spine3
     Neck neck
      Head head
       Jaw ~jaw
       {}Eye ~eye
     {}Shoulder shoulder
      {}Arm upper_arm
       {}ForeArm forearm
        {}ElbowHelper ~elbow_pad
        {}Hand hand
         {}HandProp ~nail
""", rest="-X"),
}  # fmt: skip
FLAVOURS: Final = TUNED | APART
