// SPDX-License-Identifier: Apache-2.0
// One thumbnail, from an address or a contact sheet; a placeholder where there is none.
import { useState } from "preact/hooks";
import type { Thumb } from "../source/source";

export function Thumbnail(props: { thumb: Thumb | null; alt: string; side: number; text?: string }) {
  const { thumb, alt, side, text } = props;
  const [broken, setBroken] = useState("");
  const size = { width: `${side}px`, height: `${side}px` };
  if (!thumb || ("url" in thumb && broken === thumb.url))
    return <span class="image image-text" style={size} role="img" aria-label={alt || text || "no image"}>{text ?? ""}</span>;
  if ("url" in thumb)
    return <img class="image" style={size} src={thumb.url} alt={alt} draggable={false}
                decoding="async" width={side} height={side} onError={() => setBroken(thumb.url)} />;
  const factor = side / thumb.side;
  const sheet = {
    ...size, backgroundImage: `url("${thumb.sheet}")`,
    backgroundPosition: `${-thumb.x * factor}px ${-thumb.y * factor}px`,
    backgroundSize: `${thumb.width * factor}px ${thumb.height * factor}px`,
  };
  return <span class="image" style={sheet} role="img" aria-label={alt || "image"} />;
}
