"""What Poise does to a scene: read, solve, write, measure. Operators, commands and scripts share it.

The pattern
    motion_edit         MotionEdit, the base of all edits of a motion: read, solve, write keys, measure
    body_motion         the same of a body with roles, on its own bones or on the controls that drive them
    held_motion         the same with pins over time
    controls            pose the controls of a driven body at each frame
    held                what stays in a pose without keys
    evaluation          evaluate bones and objects at some frames

One file for each edit
    job, job_goals      a solve job: goals over frames
    body, body_tools    the tools of the panel Body, on one pose or on all frames
    foot_lock           hold the contacts of feet with the ground
    path                move, scale or bend the path of a motion
    retarget            the motion of another armature, or of a file; motion_files: of many files, by processes
    generate            a motion from key poses, by a recipe
    generated_motion    the same, edited further; sample_curves: its samples as curves in the Graph Editor
    pinned_motion       the original action with timed pins; pinned_actions: the original and the result
    reduce, bake        fewer keys, or a key at every frame
    keypoints           3-D keypoints of a file; live: of a stream, by receiver; keypoint_target: what takes them
    drag/               the drag sessions

What is saved with an armature
    pins, pin_list      pins: their targets, and how the list is changed
    timed_pins          pins over time: the list, and how it is read
    chains, humanoid    chains with their lists; the settings of the humanoid method
    unkeyed, renames, fingerprints    what restores the original action of timed pins

And
    info, survey        describe armatures: for `info`, and for the panel
    reactions           what follows when a setting changes
    files, work, words  files in and out, work in a thread, words of sentences
"""
