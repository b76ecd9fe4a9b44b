// SPDX-License-Identifier: Apache-2.0
// A modal dialog on the browser's own <dialog>: focus stays inside, Escape closes.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { IconButton } from "./controls";

export function Dialog(p: {
  title: string; onClose(): void; children: ComponentChildren; class?: string;
  onKeyDown?(event: KeyboardEvent): void;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  // Browsers may withhold Escape from pages that are closed by it too often, so the page handles it.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return p.onKeyDown?.(event);
    event.preventDefault();
    event.stopPropagation();
    p.onClose();
  };
  return (
    <dialog ref={element} class={`dialog ${p.class ?? ""}`} aria-label={p.title} onKeyDown={onKeyDown}
            onCancel={(event) => { event.preventDefault(); p.onClose(); }}
            onClick={(event) => { if (event.target === element.current) p.onClose(); }}>
      <div class="dialog-box">
        <header class="dialog-head">
          <h2>{p.title}</h2>
          <IconButton icon="close" title="Close" keys="Esc" onClick={p.onClose} />
        </header>
        <div class="dialog-body">{p.children}</div>
      </div>
    </dialog>
  );
}
