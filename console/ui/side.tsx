import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useEvery } from '../api/query-every.ts';
import { t } from '../text/words.ts';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { leaving } from './unsaved.tsx';

const Place = ({ href, path, label }: { readonly href: string; readonly path: string; readonly label: string }) => (
  <li>
    <a href={href} aria-current={path === href || path.startsWith(`${href}/`) ? 'page' : undefined}>
      {label}
    </a>
  </li>
);

const isDocuments = ({ name }: { readonly name: string }): boolean => name !== 'users';

/** Where one can go in a project. */
export const Side = ({ projectId, path }: { readonly projectId: string; readonly path: string }) => {
  const base = `/projects/${projectId}`;
  const { data } = useEvery('list-collections', { projectId });
  // `users` is an area of its own.
  const collections = data?.filter(isDocuments);
  const { route } = useLocation();
  const first = collections?.[0];
  const documents = first ? `${base}/documents/${first.name}` : `${base}/new-collection`;
  const places = useRef<HTMLUListElement>(null);
  const known = data?.length;
  useEffect(() => {
    const present = places.current?.querySelector('.many [aria-current]');
    const list = present?.closest('ul');
    if (!present || !list) return;
    // By hand: what `scrollIntoView` has brought there is where Tab begins, and not at the top of the page.
    const [own, seen] = [present.getBoundingClientRect(), list.getBoundingClientRect()];
    list.scrollTop += Math.min(0, own.top - seen.top) + Math.max(0, own.bottom - seen.bottom);
  }, [path, known]);
  const shortcuts = useMemo<Shortcuts>(
    () => ({ documents: () => leaving(() => route(documents)) }),
    [documents, route],
  );
  useShortcuts(shortcuts);
  const areas = ['users', 'files', 'mail', 'usage', 'api', 'settings'] as const;
  return (
    <ul ref={places}>
      <li>
        <a href={base} aria-current={path === base ? 'page' : undefined}>
          {t.nav.overview}
        </a>
      </li>
      <li class="many">
        <span class="side-label">{t.nav.documents}</span>
        <ul class="below">
          <Place href={`${base}/new-collection`} path={path} label={`+ ${t.nav.newCollection}`} />
        </ul>
        <ul class="below">
          {collections?.map(({ name }) => (
            <Place key={name} href={`${base}/documents/${name}`} path={path} label={name} />
          ))}
        </ul>
      </li>
      {areas.map((area) => (
        <Place key={area} href={`${base}/${area}`} path={path} label={t.nav[area]} />
      ))}
    </ul>
  );
};
