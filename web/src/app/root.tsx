// SPDX-License-Identifier: Apache-2.0
// The whole page.
import { Empty, IconButton, Spinner } from "../component/controls";
import { useApp } from "./app_context";
import { AdviceView } from "./advice_view";
import { ChoosePanel } from "./choose_panel";
import { CompareView } from "./compare_view";
import { ContextsView } from "./contexts_view";
import { DetailsView } from "./details_view";
import { CorrectionsDialog, HelpDialog } from "./help_dialog";
import { FeatureDialog } from "./feature_picker";
import { LookView } from "./look_view";
import { MethodView } from "./method_view";
import { ImageDialog } from "./image_dialog";
import { ProgressView } from "./progress_view";
import { RunHeader } from "./run_header";
import { ExportDialog } from "./export_dialog";
import { TopBar } from "./top_bar";

export function Root() {
  const { store } = useApp();
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the result</a>
      <TopBar />
      {store.isLost.value && <p class="banner" role="alert">The explorer's server does not answer. This page stays as it is, and finished runs are safe. Reconnecting …</p>}
      {store.source.note && <p class="banner is-note">{store.source.note}</p>}
      <div class={`page ${store.isPanelOpen.value ? "has-panel" : ""}`}>
        {store.phase.value === "ready" && store.isPanelOpen.value && <ChoosePanel />}
        <main id="main" tabIndex={-1}>{<MainView />}</main>
      </div>
      {store.dialog.value === "help" && <HelpDialog />}
      {store.dialog.value === "export" && <ExportDialog />}
      {store.dialog.value === "corrections" && <CorrectionsDialog />}
      {store.dialog.value === "features" && <FeatureDialog />}
      {store.image.value >= 0 && <ImageDialog />}
      <Toasts />
      <div class="unseen" role="status" aria-live="polite">{store.announcement.value}</div>
    </>
  );
}

function MainView() {
  const { store } = useApp();
  if (store.phase.value === "loading") return <Spinner text="Loading the collection" />;
  if (store.phase.value === "failed")
    return <Empty icon="warn" title="The collection cannot be shown"><p class="error-text">{store.failure.value}</p>
      <button type="button" class="button" onClick={() => location.reload()}>Try again</button></Empty>;
  if (store.runId.value && !store.opened.value) return <ProgressView />;
  const view = store.opened.value ? store.view.value : "look";
  return (
    <>
      <RunHeader />
      {view === "look" && <LookView />}
      {view !== "look" && <div class="view-scroll">
        {view === "contexts" && <ContextsView />}
        {view === "compare" && <CompareView />}
        {view === "advice" && <AdviceView />}
        {view === "method" && <MethodView />}
        {view === "details" && <DetailsView />}
      </div>}
    </>
  );
}

function Toasts() {
  const { store, actions } = useApp();
  return (
    <div class="toasts" role="region" aria-label="Messages">
      {store.toasts.value.map((toast) => (
        <div key={toast.id} class={`toast is-${toast.kind}`} role={toast.kind === "error" ? "alert" : "status"}>
          <span>{toast.text}</span>
          {toast.action && <button type="button" class="link-button" onClick={toast.action.run}>{toast.action.title}</button>}
          <IconButton icon="close" title="Dismiss" onClick={() => actions.dismiss(toast.id)} />
        </div>
      ))}
    </div>
  );
}
