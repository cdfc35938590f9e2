import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../api/query.ts';
import { t } from '../text/words.ts';
import { type Choice, Combobox } from './combobox.tsx';
import { Dialog } from './dialog.tsx';
import { type KeyedAct, keyText } from './keys.ts';
import { type Place, placesOf, placesOfId } from './places.ts';
import { actsNow } from './shortcuts.ts';
import { leaving } from './unsaved.tsx';

/** A place to go to, or an act. */
interface Runnable extends Choice {
  readonly run: () => void;
}

const mostShown = 12;

/** What means nothing from here: they go through the page behind, or are in the list as places. */
const notHere: ReadonlySet<string> = new Set<KeyedAct>([
  ...(['palette', 'next', 'before', 'close'] as const),
  ...(['overview', 'documents', 'users', 'files', 'mail', 'settings'] as const),
]);

const pageSize = 100;

/** Of all collections of a project, of which the side has read every page. */
const InProject = ({
  page = 1,
  before = [],
  ...rest
}: {
  readonly projectId: string;
  readonly page?: number;
  readonly before?: readonly string[];
  readonly children: (collections: readonly string[]) => ComponentChildren;
}) => {
  const query = { limit: pageSize, ...(page > 1 && { page }) };
  const { data } = useQuery('list-collections', { projectId: rest.projectId, query }).value;
  const names = [...before, ...(data?.items.map(({ name }) => name) ?? [])];
  if (data && page * pageSize < data.total) return <InProject {...rest} page={page + 1} before={names} />;
  return <>{rest.children(names)}</>;
};

/** Everything that one can go to or do, found by typing a part of its name; a document by its whole id. */
export const Palette = ({
  projectId,
  onClose,
}: {
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}) => {
  const { route } = useLocation();
  const typed = useSignal('');
  const { data } = useQuery('list-projects', { query: { limit: 100 } }).value;
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
    ...(data?.items.map(({ _id, name }) => ({ label: name, href: `/projects/${_id}` })) ?? []),
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
