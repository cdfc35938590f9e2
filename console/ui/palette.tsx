import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useEvery } from '../api/query-every.ts';
import { t } from '../text/words.ts';
import { type Choice, Combobox } from './combobox.tsx';
import { Dialog } from './dialog.tsx';
import { type KeyedAct, keyText } from './keys.ts';
import { type Place, placesOf, placesOfId } from './places.ts';
import { actsNow } from './shortcuts.ts';
import { leaving } from './unsaved.tsx';

interface Runnable extends Choice {
  readonly run: () => void;
}

const mostShown = 12;

/** Shortcuts that mean nothing here: they act on the page behind, or are in the list as links. */
const notHere: ReadonlySet<string> = new Set<KeyedAct>([
  ...(['palette', 'next', 'before', 'close'] as const),
  ...(['overview', 'documents', 'users', 'files', 'mail', 'settings'] as const),
]);

/** For all collections of a project, which the side bar has loaded. */
const InProject = ({
  projectId,
  children,
}: {
  readonly projectId: string;
  readonly children: (collections: readonly string[]) => ComponentChildren;
}) => {
  const { data } = useEvery('list-collections', { projectId });
  return <>{children(data?.map(({ name }) => name) ?? [])}</>;
};

/** The command palette: finds pages and actions by a part of their name, and documents by id. */
export const Palette = ({
  projectId,
  onClose,
}: {
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}) => {
  const { route } = useLocation();
  const typed = useSignal('');
  const { data } = useEvery('list-projects', {});
  const acts = useMemo(
    () =>
      Object.entries(actsNow())
        .filter(([act]) => !notHere.has(act))
        .map(
          ([act, run]): Runnable => ({
            label: t.keyboard.acts[act as KeyedAct],
            note: <kbd>{keyText(act as KeyedAct)}</kbd>,
            run,
          }),
        ),
    [],
  );
  const goTo = ({ label, href }: Place): Runnable => ({ label, run: () => leaving(() => route(href)) });
  const common: readonly Place[] = [
    { label: t.nav.projects, href: '/' },
    { label: t.account.title, href: '/account' },
    ...(data?.map(({ _id, name }) => ({ label: name, href: `/projects/${_id}` })) ?? []),
  ];
  const show = (id: string | undefined, collections: readonly string[]) => {
    const places = [...(id === undefined ? [] : placesOf(id, collections)), ...common];
    const words = typed.value.toLowerCase().split(/\s+/).filter(Boolean);
    const named = [...places.map(goTo), ...acts].filter(({ label }) =>
      words.every((word) => label.toLowerCase().includes(word)),
    );
    const byId = id === undefined ? [] : placesOfId(id, collections, typed.value.trim()).map(goTo);
    const found = [...byId, ...named].slice(0, mostShown);
    const choose = ({ run }: Runnable) => {
      onClose();
      run();
    };
    return <Combobox label={t.palette.title} hint={t.palette.hint} typed={typed} found={found} onChoose={choose} />;
  };
  return (
    <Dialog title={t.palette.title} onClose={onClose}>
      {projectId === undefined ? (
        show(undefined, [])
      ) : (
        <InProject projectId={projectId}>{(collections) => show(projectId, collections)}</InProject>
      )}
    </Dialog>
  );
};
