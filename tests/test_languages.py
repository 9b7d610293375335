"""Every text of the interface is translated into each language, and sentences keep the names and numbers in them."""

import re
from pathlib import Path

import pytest

from core.body.roles import ROLES
from languages import LANGUAGES
from languages.book import entries, translate, translate_parts
from languages.lines import width, wrapped
from tests.paths import ROOT
from tests.strings import texts

# Where the texts of the interface are.
ROOMS = (
    "operators",
    "panels",
    "properties",
    "overlay",
    "preferences.py",
    "edits",
    "bridge",
    "core/body",
    "core/causes.py",
    "core/contribution",
    "core/editing",
    "core/formats/clips.py",
    "core/formats/files.py",
    "core/formats/report.py",
    "core/formats/smpl.py",
    "core/formats/vrma.py",
    "core/generate",
    "core/keypoints",
    "core/solution.py",
    "core/solvers/__init__.py",
    "core/solvers/chain/path.py",
    "core/solvers/humanoid/method.py",
    "core/solvers/humanoid/targets.py",
    "core/sources.py",
)
# What stays English: the command line, jobs and other JSON, whose fields are English, and names of bones and points.
ENGLISH = (
    "edits/contribute.py",
    "edits/job.py",
    "edits/job_goals.py",
    "core/body/detection",
    "core/keypoints/estimate.py",
    "core/keypoints/geometry.py",
    "core/keypoints/network.py",
)
# What is collected, and is no text of the interface.
UNSEEN = {
    "object = bpy.context.active_object",
    "Poise",  # the name
    "{0} poise",  # of an action
    "{armature} {file} {take}",  # of actions
}
# Parts that are shown by name, beside those of `ROLES`: of animals, of feet, of generated motions.
PARTS = (
    *("arm", "arm.upper", "arm.lower", "leg", "leg.front", "leg.hind", "wing", "tail", "ear", "jaw"),
    *("heel", "ball", "flight", "all"),
)
_PLACE = re.compile(r"\{(\w+)(?::part)?\}")


def files(places: tuple[str, ...]) -> set[Path]:
    return {path for place in places for path in [ROOT / place, *(ROOT / place).rglob("*.py")] if path.is_file()}


def collected() -> set[str]:
    parts = {*PARTS, *(role.removesuffix(".L").removesuffix(".R") for role in ROLES)}
    shown = {text for path in files(ROOMS) - files(ENGLISH) for text in texts(path)} - UNSEEN
    return shown | {f"part {part}" for part in parts}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_interface_is_translated(language: str) -> None:
    missing = sorted(collected() - entries(language).keys())
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_of_a_text_that_is_gone(language: str) -> None:
    unused = sorted(entries(language).keys() - collected())
    assert not unused, "\n".join(unused)


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_places_of_their_texts(language: str) -> None:
    wrong = [
        text for text, said in entries(language).items() if sorted(_PLACE.findall(text)) != sorted(_PLACE.findall(said))
    ]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_end_as_their_texts_without_a_full_stop(language: str) -> None:
    said = {text: said for text, said in entries(language).items() if re.search(r"\w\.\.\.$", text)}
    assert [text for text in said if not said[text].endswith("...")] == []
    assert [text for text, said in entries(language).items() if said.endswith(("。", "．")) or not said] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Pin", "ピン留め"),
        ('Baked 1 frame into "A"', "1 フレームを「A」にベイクしました"),
        ('Baked 12 frames into "Walk. Fast"', "12 フレームを「Walk. Fast」にベイクしました"),
        (
            "3 bones changed, 2 keyed; Foot.L now holds its current position",
            "3 本のボーンを変更、2 本にキーを挿入; Foot.L を現在の位置で保持します",
        ),
        (
            "No bones are selected. Select bones in Pose Mode.",
            "ボーンが選択されていません。ポーズモードでボーンを選択してください。",
        ),
        ("Dragging Pin", "Pin をドラッグ中"),
        ("Pin now holds its current position", "Pin を現在の位置で保持します"),  # a bone of that name
        (
            "hand.L is 3.2 cm short of its target: too far from the pinned Hips, Leg.L is at its limit (X). "
            "Unpin Hips to get closer",
            "hand.L はターゲットまで 3.2 cm 不足: ピンされた Hips から遠すぎます、Leg.L が制限に達しています (X)。"
            "近づけるには Hips のピンを外してください",
        ),
        (
            "hips and 2 more have no keys, and auto-keying is off, so they are not changed. Insert a keyframe first",
            "hips と 他 2 は変更されません: キーがなく、自動キー挿入がオフです。先にキーフレームを挿入してください",
        ),
        (
            "12 bones are driven, and 3 cannot be dragged: see below.",
            "12 本のボーンが駆動され、3 はドラッグできません: 下を参照。",
        ),
        (
            'Restored the action "A" of "B"; your manual changes are kept in "C"',
            "「B」のアクション「A」を元に戻しました; 手作業の変更は「C」に残りました",
        ),
        (
            '"Walk" is hidden. Show it or its bone collection first; the drag ended',
            "「Walk」は非表示です。先にそれ、またはボーンコレクションを表示してください; ドラッグを終了しました",
        ),
        (
            "No hand.L or leg.2.R was found. Assign its bone in Rig > Parts.",
            "左手、右脚 2 が見つかりません。「リグ」>「部位」でボーンを割り当ててください。",
        ),
        (  # the first of each is a bone
            '"hand.L" cannot be "hand.L": "thigh.R", which is "thigh.R", is parented to it.',
            "「hand.L」は「左手」にできません: 「右太もも」である「thigh.R」がその子です。",
        ),
        ("An animal or another body with leg.front.L, tail, hips.", "動物などの体(左前脚、尾、腰)。"),
        ("Dragging my 3 bones and a hat", "my 3 bones and a hat をドラッグ中"),
        ("no sentence of Poise's, and no name", "no sentence of Poise's, and no name"),
    ],
)
def test_sentences_are_translated_whole_or_in_parts(text: str, said: str | None) -> None:
    assert translate(text, "ja_JP") == said


def test_of_names_in_a_row_those_of_parts_are_translated() -> None:
    assert translate_parts("leg.2.R, LeftHand, hand_x and upper_arm.L", "zh_HANS") == "右腿 2，LeftHand，hand_x和左上臂"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("hand.L is 9 cm short", ["hand.L is 9", "cm short"]),
        ("mixamorig:LeftHand is short", ["mixamorig:LeftHand", "is short"]),
        ("「ピン」を押してください。", ["「ピン」を押", "してくださ", "い。"]),
        ("请按“钉固”，然后拖动", ["请按“钉", "固”，然后拖", "动"]),
    ],
)
def test_lines_break_between_words_and_between_wide_characters(text: str, lines: list[str]) -> None:
    assert wrapped(text, 13.0, width) == lines
