# SPDX-License-Identifier: Apache-2.0
"""Code on a light ground, every colour with a contrast of at least 4.5 to it (WCAG AA)."""

from pygments.style import Style
from pygments.token import Comment, Error, Generic, Keyword, Name, Number, Operator, String, Token


class Readable(Style):
    background_color = "#f8f9fb"
    styles = {
        Token: "#1f2328", Comment: "italic #57606a", Keyword: "#8a1f4b", Name.Builtin: "#0550ae",
        Name.Function: "#5a32a3", Name.Class: "#5a32a3", Name.Tag: "#116329", Name.Attribute: "#0550ae",
        String: "#0a3069", Number: "#0550ae", Operator: "#1f2328", Generic.Prompt: "#57606a", Error: "#1f2328",
    }
