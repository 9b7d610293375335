"""Read parts of the body, sides and numbers from bone names of all naming conventions.

A name is split into words at signs, digits and capitals, and into known words where it has no such separators. Words
without meaning, and words that most bones of the rig share, are dropped; the others are looked up in one table. The
table covers Rigify, Mixamo, Unreal, VRM and VRoid, MikuMikuDance, Daz, MakeHuman, Character Creator, Biped,
MotionBuilder, Auto-Rig Pro, Unity, Source, SMPL and Xsens.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ..roles import FINGERS


def _words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LEFT: Final = _words_in("l left lt lft lf 左")
_RIGHT: Final = _words_in("r right rt rgt rg 右")

# A bone with one of these words in its name is a control, a mechanism or a prop.
_HELPERS: Final = _words_in("""
    ik fk pole poletarget target ctrl ctl control controller master mch org vis wgt widget tweak helper socket slot prop
    weapon gun attach attachment camera dummy ref goal effector locator parent spin rock track lookat 親 先
""")
_ENDS: Final = _words_in("end nub site endsite terminator")
_TWISTS: Final = _words_in("twist roll tw corrective muscle share bendy 捩 捩り")

# Words without meaning.
_EMPTY: Final = _words_in("""
    def deform bone bones jnt jt joint bip biped valvebiped mixamorig mixamo rig cc base bind skin sk skel skeleton
    armature character char human actor avatar root c x m f b j g o bend stretch seg segment link part center
""")

# Part -> its names, compound words written together. Of several parts in one name the last counts.
_NAMES: Final = {
    "hips": "hips hip pelvis lowerbody sacrum ilium 下半身 腰",
    "spine": """spine back lowerback waist abdomen belly torso stomach ribs upperbody spinelower spineupper lumbar
             thoracic 上半身""",
    "chest": "chest upperchest breastbone ribcage thorax 胸",
    "neck": "neck cervical 首",
    "head": "head skull 頭",
    "clavicle": "clavicle clav collar collarbone clavicula scapula",
    "shoulder": "shoulder shldr shoulders 肩",
    "upperarm": "upperarm uparm armupper bicep biceps humerus",
    "arm": "arm 腕",
    "forearm": "forearm lowerarm lowarm armlower armfore",
    "elbow": "elbow ひじ 肘",
    "wrist": "wrist 手首",
    "hand": "hand",
    "thigh": "thigh upleg upperleg legupper femur 太もも 大腿",
    "leg": "leg 足",
    "shin": "shin calf lowleg lowerleg leglower tibia すね",
    "knee": "knee ひざ 膝",
    "ankle": "ankle 足首",
    "foot": "foot feet",
    "toe": "toe toes toebase ball つま先 爪先",
    "thumb": "thumb 親指",
    "index": "index indexfinger pointer forefinger 人指 人差指 人差し指",
    "middle": "middle mid middlefinger 中指",
    "ring": "ring ringfinger 薬指",
    "pinky": "pinky pinkie little littlefinger small 小指",
    "finger": "finger fingers 指",
    "palm": "palm metacarpal metacarpals carpal inhand",
    "tail": "tail caudal しっぽ 尻尾",
    "ear": "ear ears 耳",
    "jaw": "jaw lowerjaw mandible 顎",
    "wing": "wing wings feather 翼 羽",
}
_PARTS: Final = {name: part for part, names in _NAMES.items() for name in names.split()}
ARM_PARTS: Final = frozenset(("clavicle", "shoulder", "upperarm", "arm", "forearm", "elbow", "wrist", "hand"))
LEG_PARTS: Final = frozenset(("thigh", "leg", "shin", "knee", "ankle", "foot", "toe"))

# Words that tell several pairs of legs apart.
_FRONT: Final = _words_in("front fore forward")
_HIND: Final = _words_in("hind back rear")

# Further words to split a run of letters by; they name no part.
_OTHERS: Final = _words_in("""
    up upper lower low fore forehead front hind rear eye eyes brow cheek lip nose tongue teeth lid hair
    skirt breast bust tie cape cloth sleeve proximal intermediate distal inner outer hoof paw claw heel
""")
_NO_PARTS: Final = _EMPTY | _LEFT | _RIGHT | _HELPERS | _ENDS | _TWISTS
_KNOWN: Final = frozenset(_PARTS) | _NO_PARTS | _OTHERS
_LONGEST: Final = max(len(word) for word in _KNOWN)
_SHARED: Final = 0.4  # share of the names: an unknown word that more of them have is dropped
_SKELETONS: Final = 16  # whose readings are kept
_FEW: Final = 8  # bones: with fewer no word is dropped for its share

_CUT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


class NameReading(NamedTuple):
    """The meaning of one bone name."""

    part: str = ""  # a key of the table of names; "" if none
    side: str = ""  # "L", "R" or ""
    numbers: tuple[str, ...] = ()
    rest: int = 0  # count of unknown words
    helper: bool = False
    end: bool = False
    twist: bool = False
    place: str = ""  # "front", "hind" or "lower", of one of several pairs of legs or arms


@lru_cache(maxsize=_SKELETONS)
def read_names(names: tuple[str, ...]) -> tuple[NameReading, ...]:
    """Return the meanings of the bone names of one skeleton, in their order."""
    cut = [_words(name) for name in names]
    counts = Counter(word for words in cut for word in set(words))
    shared = {
        word
        for word, count in counts.items()
        if len(names) >= _FEW and count > _SHARED * len(names) and word not in _KNOWN and not word.isdigit()
    }
    return tuple(_read([word for word in words if word not in shared]) for words in cut)


def _words(name: str) -> list[str]:
    """Return the words and numbers of a name in lower case, without the name space before a colon or a bar."""
    plain = unicodedata.normalize("NFKC", name)
    plain = re.split(r"[:|]", plain)[-1] or plain
    words: list[str] = []
    for chunk in _CUT.findall(plain):
        words += _known_words(chunk.lower()) or [chunk.lower()]
    return words


def _known_words(chunk: str) -> list[str]:
    """Split a run of letters into known words, trying the longest first; empty if other letters remain."""
    if chunk in _KNOWN or chunk.isdigit():
        return [chunk]
    for length in range(min(len(chunk) - 1, _LONGEST), 0, -1):
        word, rest = chunk[:length], chunk[length:]
        if word in _KNOWN and (_is_whole(word) or (word in "lr" and rest in _PARTS)):
            others = _known_words(rest)
            if others and all(map(_is_whole, others)):
                return [word, *others]
    return []


def _is_whole(word: str) -> bool:
    """Return False for a single Latin letter: it is a word only where separators surround it."""
    return len(word) > 1 or not word.isascii()


def _read(words: Sequence[str]) -> NameReading:
    """Return the meaning of the words of one name."""
    # a number that follows a word without meaning belongs to it: Bip01
    numbers = tuple(
        word for before, word in zip(("", *words), words, strict=False) if word.isdigit() and before not in _EMPTY
    )
    letters = [word for word in words if not word.isdigit()]
    side = "L" if not _LEFT.isdisjoint(letters) else "R" if not _RIGHT.isdisjoint(letters) else ""
    helper, end, twist = (not kind.isdisjoint(letters) for kind in (_HELPERS, _ENDS, _TWISTS))
    remaining = [word for word in letters if word not in _NO_PARTS]

    parts: list[str] = []
    left_over: list[str] = []
    start = 0
    while start < len(remaining):
        stops = range(len(remaining), start, -1)
        stop = next((stop for stop in stops if "".join(remaining[start:stop]) in _PARTS), 0)
        if stop:
            parts.append(_PARTS["".join(remaining[start:stop])])
        else:
            left_over.append(remaining[start])
        start = max(stop, start + 1)
    if not parts:
        return NameReading("", side, numbers, len(left_over), helper, end, twist)

    place = ""
    if _FRONT & set(left_over):
        place = "front"
    elif _HIND & set(left_over) or (len(parts) > 1 and remaining[0] in _HIND):
        place = "hind"
    elif "lower" in left_over and parts[-1] in ARM_PARTS:
        place = "lower"
    fingers = [part for part in parts if part in FINGERS]
    part = parts[-1]
    if fingers and {"foot", "toe"} & set(parts):
        part = "toe"
    elif fingers:
        # the thumb's metacarpal is its first phalanx
        part = "palm" if "palm" in parts and fingers[-1] != "thumb" else fingers[-1]
    elif "finger" in parts:
        part = "finger"
    return NameReading(part, side, numbers, len(left_over), helper, end, twist, place)
