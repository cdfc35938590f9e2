import { useSignal } from '@preact/signals';
import type { Collection } from '../../../shared/collections/collection.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Menu } from '../../ui/menu.tsx';
import { say } from '../../ui/toast.tsx';
import { type SavedView, useSavedViews } from './saved-views.ts';

interface Props {
  readonly projectId: string;
  readonly collection: Collection;
  /** The list as shown. */
  readonly present: string;
}

/** Saved views: open, rename, delete. */
export const ViewsMenu = ({ projectId, collection, present }: Props) => {
  const [views, keep] = useSavedViews(projectId, collection);
  const base = `/projects/${projectId}/documents/${encodeURIComponent(collection.name)}`;
  const naming = useSignal<SavedView | undefined>(undefined);
  const name = useSignal('');
  const ask = (view: SavedView) => {
    naming.value = view;
    name.value = view.name;
  };
  const close = () => {
    naming.value = undefined;
  };
  const save = async () => {
    const { value: view } = naming;
    if (!view) return;
    const named = { ...view, name: name.value.trim() };
    const others = views.filter((one) => one.name !== named.name || one.name === view.name);
    keep(
      others.some((one) => one.name === view.name)
        ? others.map((one) => (one.name === view.name ? named : one))
        : [...others, named],
    );
    close();
  };
  const shown = views.find(({ query }) => query === present);
  return (
    <>
      <Menu title={t.views.title} label={<>{shown?.name ?? t.views.title} ▾</>}>
        {views.map((view) => (
          <div key={view.name} class="menu-line">
            <a href={`${base}?${view.query}`} aria-current={view === shown ? 'page' : undefined}>
              {view.name}
            </a>
            <button type="button" aria-label={t.views.rename(view.name)} onClick={() => ask(view)}>
              ✎
            </button>
            <button
              type="button"
              aria-label={t.views.delete(view.name)}
              onClick={() => {
                keep(views.filter((one) => one !== view));
                say(t.views.deleted(view.name), () => keep(views));
              }}
            >
              ✕
            </button>
          </div>
        ))}
        {views.length > 0 && <a href={base}>{t.views.all}</a>}
        <button type="button" onClick={() => ask({ name: '', query: present })}>
          {t.views.save}
        </button>
      </Menu>
      {naming.value && (
        <Dialog title={t.views.save} onClose={close}>
          <Form act={t.acts.save} cancel={t.acts.cancel} onCancel={close} onSubmit={save}>
            {() => (
              <Field
                label={t.views.name}
                required
                maxLength={60}
                autocomplete="off"
                value={name.value}
                onInput={({ currentTarget: { value } }) => {
                  name.value = value;
                }}
              />
            )}
          </Form>
        </Dialog>
      )}
    </>
  );
};
