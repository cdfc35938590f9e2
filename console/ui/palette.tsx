import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../api/query.ts';
import { t } from '../text/words.ts';
import { Choices } from './choices.tsx';
import { Dialog } from './dialog.tsx';
import { type KeyedAct, keyText } from './keys.ts';
import { type Place, placesOf, placesOfId } from './places.ts';
import { actsNow } from './shortcuts.ts';
import { leaving } from './unsaved.tsx';

/** Something to choose: a place to go to, or an act. */
interface Choice {
  readonly label: string;
  readonly keys?: string;
  readonly run: () => void;
}

const mostShown = 12;
const listId = 'palette';

/** What means nothing from here: they go through the page behind, or are in the list as places. */
const notHere: ReadonlySet<string> = new Set<KeyedAct>([
  ...(['palette', 'next', 'before', 'close'] as const),
  ...(['overview', 'documents', 'users', 'files', 'mail', 'settings'] as const),
]);

const InProject = ({
  projectId,
  children,
}: {
  readonly projectId: string;
  readonly children: (collections: readonly string[]) => ComponentChildren;
}) => {
  const { data } = useQuery('list-collections', { projectId, query: { limit: 100 } }).value;
  return <>{children(data?.items.map(({ name }) => name) ?? [])}</>;
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
  const chosen = useSignal(0);
  const { data } = useQuery('list-projects', { query: { limit: 100 } }).value;
  const acts = useMemo(
    () =>
      Object.entries(actsNow())
        .filter(([act]) => !notHere.has(act))
        .map(
          ([act, run]): Choice => ({ label: t.keyboard.acts[act as KeyedAct], keys: keyText(act as KeyedAct), run }),
        ),
    [],
  );
  const goTo = ({ label, href }: Place): Choice => ({ label, run: () => leaving(() => route(href)) });
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
    const choose = (choice: Choice | undefined) => {
      if (!choice) return;
      onClose();
      choice.run();
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (step !== 0) {
        event.preventDefault();
        chosen.value = (chosen.value + step + found.length) % Math.max(1, found.length);
      } else if (event.key === 'Enter') {
        event.preventDefault();
        choose(found[chosen.value]);
      }
    };
    return (
      <>
        <input
          class="input"
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={found.length > 0 ? `${listId}-${chosen.value}` : undefined}
          aria-label={t.palette.title}
          placeholder={t.palette.hint}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
            chosen.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
        <Choices id={listId} label={t.palette.title} found={found} chosen={chosen.value} onChoose={choose} />
      </>
    );
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
