"""What Poise does to a scene: read, solve, write, measure. Operators, commands and scripts share it.

The pattern
    motion_edit      MotionEdit, the base of all edits of a motion: read, solve, write keys, measure
    body_motion      the same of a body with roles, on its own bones or on the controls that drive them
    held_motion      the same with pins over time
    controls         pose the controls of a driven body at each frame
    evaluation       record bones and objects as Blender evaluates them

One file for each edit
    job, job_goals   a solve job: goals over frames
    foot_lock        hold the contacts of feet with the ground
    path             move, scale or bend the path of a motion
    retarget         the motion of another armature, or of a file
    generate         a motion from key poses, by a recipe
    generated_motion the same, edited further with curves in the Graph Editor
    pinned_motion    the original action with the timed pins of the armature
    reduce, bake     fewer keys, or a key at every frame
    keypoints        3-D keypoints of a file; keypoint_target: the armature that takes them
    body             the tools of the panel Body
    drag/            the drag sessions

What is saved with an armature
    pins, timed_pins, chains, humanoid    lists and settings of the panels
    unkeyed, renames, fingerprints        what is needed to restore the original action of timed pins

    info             what `info` prints
    files            open, import and write files
    receiver         receive live keypoints
"""
