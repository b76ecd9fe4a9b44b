// SPDX-License-Identifier: Apache-2.0
// Export: labels, folders, report, command line, link.
import { useState } from "preact/hooks";
import { counted } from "../model/text";
import { messageOf, type Download } from "../source/source";
import { CopyLine } from "../component/copy_line";
import { Segmented } from "../component/controls";
import { Dialog } from "../component/dialog";
import { Icon } from "../component/icon";
import { useApp } from "./app_context";
import { permalink } from "./link_sync";

export function ExportDialog() {
  const app = useApp();
  const { store } = app;
  const [isOriginal, setOriginal] = useState(false);
  const detail = store.opened.value?.detail;
  if (!detail) return null;
  const hasEdits = app.edits.canCorrect && app.edits.count > 0;
  return (
    <Dialog title="Export" onClose={() => { store.dialog.value = ""; }}>
      {hasEdits &&
        <section class="block">
          <Segmented label="Which labels" value={isOriginal ? "original" : "shown"} onChange={(value) => setOriginal(value === "original")}
                     choices={[{ value: "shown", title: "As shown, with corrections" }, { value: "original", title: "As the method left them" }]} />
        </section>}
      <section class="block">
        <h3>Files</h3>
        <div class="button-row">
          <DownloadButton what="labels.csv" title="Labels, CSV" isOriginal={isOriginal} />
          <DownloadButton what="labels.json" title="Labels, JSON" isOriginal={isOriginal} />
          {store.source.can.folders && store.collection.value?.kind === "images" && <DownloadButton what="coco.json" title="COCO" isOriginal={isOriginal} />}
          {store.source.can.report && <DownloadButton what="report.html" title="Report, one page" isOriginal={isOriginal} />}
        </div>
      </section>
      {store.source.can.folders && store.collection.value?.kind === "images" && <Folders isOriginal={isOriginal} />}
      <section class="block">
        <h3>Command line</h3>
        <p class="hint">Reproduces the method's result.</p>
        <CopyLine text={detail.command} label="Command line" />
      </section>
      <section class="block">
        <h3>Link</h3>
        <p class="hint">This view: run, selection and zoom. Corrections are kept with the run.</p>
        <CopyLine text={permalink(app)} label="Link to this view" />
      </section>
    </Dialog>
  );
}

function DownloadButton({ what, title, isOriginal }: { what: Download; title: string; isOriginal: boolean }) {
  const { store, actions } = useApp();
  const save = async () => {
    try {
      await actions.flushEdits();
      const { url, name } = await store.source.download(store.runId.value, what, isOriginal);
      const anchor = document.createElement("a");
      anchor.href = url;
      anchor.download = name;
      anchor.click();
      if (url.startsWith("blob:")) window.setTimeout(() => URL.revokeObjectURL(url), 10000);
    } catch (error) {
      actions.fail(error);
    }
  };
  return <button type="button" class="button" onClick={() => void save()} data-testid={what}><Icon name="file" size={16} />{title}</button>;
}

function Folders({ isOriginal }: { isOriginal: boolean }) {
  const { store, actions } = useApp();
  const [to, setTo] = useState("");
  const [answer, setAnswer] = useState<{ text: string; path?: string; isError?: boolean } | null>(null);
  const write = async (how: "copy" | "link" | "zip") => {
    setAnswer({ text: "Writing …" });
    try {
      await actions.flushEdits();
      const { path, count } = await store.source.toFolders(store.runId.value, how, to.trim(), isOriginal);
      setAnswer({ text: `${counted(count, "image")} ${{ copy: "copied", link: "linked", zip: "zipped" }[how]} into`, path });
    } catch (error) {
      setAnswer({ text: messageOf(error), isError: true });
    }
  };
  return (
    <section class="block">
      <h3>Images in folders, one per part</h3>
      <label class="field-row"><span class="hint">Where to, on the machine that runs the explorer; empty: beside the run</span>
        <input type="text" value={to} placeholder="folder or .zip file that does not exist yet" onInput={(event) => setTo(event.currentTarget.value)} data-testid="folders-to" /></label>
      <div class="button-row">
        <button type="button" class="button" onClick={() => void write("copy")} data-testid="folders-copy"><Icon name="folder" size={16} />Copy</button>
        <button type="button" class="button" onClick={() => void write("link")} data-testid="folders-link"><Icon name="link" size={16} />Link</button>
        <button type="button" class="button" onClick={() => void write("zip")} data-testid="folders-zip"><Icon name="file" size={16} />Zip</button>
      </div>
      <div role="status">{answer && <><p class={answer.isError ? "problem" : "hint"}>{answer.text}</p>{answer.path && <CopyLine text={answer.path} label="Folder" />}</>}</div>
    </section>
  );
}
