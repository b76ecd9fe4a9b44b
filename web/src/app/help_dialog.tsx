// SPDX-License-Identifier: Apache-2.0
// The keys, and the list of corrections.
import { dropPair, dropMembership } from "../model/corrections";
import { IconButton } from "../component/controls";
import { Dialog } from "../component/dialog";
import { useApp } from "./app_context";
import { kKeys } from "./keys";

export function HelpDialog() {
  const { store } = useApp();
  return (
    <Dialog title="Keys" class="help-dialog" onClose={() => { store.dialog.value = ""; }}>
      <div class="help">
        {kKeys.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>{group.keys.map(([keys, what]) => <div key={keys}><dt><kbd>{keys}</kbd></dt><dd>{what}</dd></div>)}</dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

export function CorrectionsDialog() {
  const { store, scene, edits, names } = useApp();
  const { memberships, together, apart } = edits.now;
  const parts = scene.scene.value?.parts ?? [];
  const pairs = [...together.map((pair, i) => ({ pair, i, kind: "together" as const })), ...apart.map((pair, i) => ({ pair, i, kind: "apart" as const }))];
  return (
    <Dialog title="Corrections" onClose={() => { store.dialog.value = ""; }}>
      <EditHistory />
      <h3>What holds now</h3>
      {edits.count === 0 && <p class="hint">None.</p>}
      <ul class="correction-list">
        {[...memberships].map(([row, part]) => (
          <li key={`m${row}`}><span><strong>{names.of(row)}</strong> {part < 0 ? "is set aside" : <>belongs to <strong>{parts[part]?.name ?? part + 1}</strong></>}</span>
            <IconButton icon="close" title={`Remove: ${names.of(row)}`} onClick={() => edits.replaceAll(dropMembership(edits.now, row), "correction removed")} /></li>
        ))}
        {pairs.map(({ pair, i, kind }) => (
          <li key={`${kind}${i}`}><span><strong>{names.of(pair[0])}</strong> and <strong>{names.of(pair[1])}</strong> {kind === "together" ? "must stay together" : "must be apart"}</span>
            <IconButton icon="close" title={`Remove: ${names.of(pair[0])} and ${names.of(pair[1])}`} onClick={() => edits.replaceAll(dropPair(edits.now, kind, i), "correction removed")} /></li>
        ))}
      </ul>
    </Dialog>
  );
}

// Every step so far; a click goes back to it, or forward again.
function EditHistory() {
  const { store, edits } = useApp();
  const { past, what, future } = store.corrections.value;
  const steps = [...past.slice(1).map((p) => p.what), ...(past.length ? [what] : []), ...future.map((f) => f.what)];
  if (!steps.length) return null;
  return (
    <section aria-label="History">
      <h3>History</h3>
      <ol class="edit-history">
        {["as the method left it", ...steps].map((step, i) => (
          <li key={i}><button type="button" class="link-button" aria-current={i === past.length ? "step" : undefined} onClick={() => edits.goTo(i)}>{step}</button></li>
        ))}
      </ol>
    </section>
  );
}
