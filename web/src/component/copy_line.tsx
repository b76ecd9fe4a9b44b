// SPDX-License-Identifier: Apache-2.0
// A line of text with a button that copies it.
import { useState } from "preact/hooks";
import { IconButton } from "./controls";

export function CopyLine({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await copyText(text));
    window.setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="copy-line">
      <code tabIndex={0} role="textbox" aria-readonly="true" aria-label={label}>{text}</code>
      <IconButton icon={isCopied ? "check" : "copy"} title={isCopied ? "Copied" : `Copy: ${label}`} onClick={() => void copy()} />
    </div>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea"); // pages opened from a file have no clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}
