import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../api/query.ts';
import { t } from '../text/words.ts';
import { Dialog } from './dialog.tsx';
import { leaving } from './unsaved.tsx';

interface Place {
  readonly label: string;
  readonly href: string;
}

const mostShown = 12;

const placesOf = (projectId: string, collections: readonly string[]): readonly Place[] => {
  const base = `/projects/${projectId}`;
  return [
    ...collections.flatMap((name) => {
      const own = `${base}/documents/${name}`;
      return [
        { label: name, href: own },
        ...(['schema', 'indexes', 'trash', 'transfers'] as const).map((part) => ({
          label: `${name} · ${t.collection.parts[part]}`,
          href: `${own}/${part}`,
        })),
      ];
    }),
    { label: t.nav.newCollection, href: `${base}/new-collection` },
    { label: t.nav.overview, href: base },
    ...(['users', 'files', 'usage', 'api'] as const).map((area) => ({ label: t.nav[area], href: `${base}/${area}` })),
    ...Object.entries(t.mail.parts).map(([part, label]) => ({
      label: `${t.nav.mail} · ${label}`,
      href: `${base}/mail/${part}`,
    })),
    ...Object.entries(t.settings.parts).map(([part, label]) => ({
      label: `${t.nav.settings} · ${label}`,
      href: `${base}/settings/${part}`,
    })),
  ];
};

const InProject = ({
  projectId,
  children,
}: {
  readonly projectId: string;
  readonly children: (places: readonly Place[]) => ComponentChildren;
}) => {
  const { data } = useQuery('list-collections', { projectId, query: { limit: 100 } }).value;
  return <>{children(placesOf(projectId, data?.items.map(({ name }) => name) ?? []))}</>;
};

/** Everything that one can go to, found by typing a part of its name. */
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
  const common: readonly Place[] = [
    { label: t.nav.projects, href: '/' },
    { label: t.account.title, href: '/account' },
    ...(data?.items.map(({ _id, name }) => ({ label: name, href: `/projects/${_id}` })) ?? []),
  ];
  const show = (places: readonly Place[]) => {
    const words = typed.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [...places, ...common]
      .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
      .slice(0, mostShown);
    const go = (place: Place | undefined) => {
      if (!place) return;
      onClose();
      leaving(() => route(place.href));
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (step !== 0) {
        event.preventDefault();
        chosen.value = (chosen.value + step + found.length) % Math.max(1, found.length);
      } else if (event.key === 'Enter') {
        event.preventDefault();
        go(found[chosen.value]);
      }
    };
    return (
      <>
        <input
          class="input"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found.length > 0 ? `palette-${chosen.value}` : undefined}
          aria-label={t.palette.title}
          placeholder={t.palette.title}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
            chosen.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
        <div id="palette-list" role="listbox" class="palette" aria-label={t.palette.title}>
          {found.map((place, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
            <div
              key={place.href}
              id={`palette-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === chosen.value}
              onClick={() => go(place)}
            >
              {place.label}
            </div>
          ))}
        </div>
      </>
    );
  };
  return (
    <Dialog title={t.palette.title} onClose={onClose}>
      {projectId ? <InProject projectId={projectId}>{show}</InProject> : show([])}
    </Dialog>
  );
};
