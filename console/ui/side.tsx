import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../api/query.ts';
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

/** Where one can go in a project. */
export const Side = ({ projectId, path }: { readonly projectId: string; readonly path: string }) => {
  const base = `/projects/${projectId}`;
  const { data } = useQuery('list-collections', { projectId, query: { limit: 100 } }).value;
  const { route } = useLocation();
  const collections = data?.items.filter(({ name }) => name !== 'users') ?? [];
  const documents = collections[0] ? `${base}/documents/${collections[0].name}` : `${base}/new-collection`;
  const shortcuts = useMemo<Shortcuts>(
    () => ({ documents: () => leaving(() => route(documents)) }),
    [documents, route],
  );
  useShortcuts(shortcuts);
  const areas = ['users', 'files', 'mail', 'usage', 'api', 'settings'] as const;
  return (
    <ul>
      <li>
        <a href={base} aria-current={path === base ? 'page' : undefined}>
          {t.nav.overview}
        </a>
      </li>
      <li>
        <span class="side-label">{t.nav.documents}</span>
        <ul class="below">
          {collections.map(({ name }) => (
            <Place key={name} href={`${base}/documents/${name}`} path={path} label={name} />
          ))}
          <Place href={`${base}/new-collection`} path={path} label={`+ ${t.nav.newCollection}`} />
        </ul>
      </li>
      {areas.map((area) => (
        <Place key={area} href={`${base}/${area}`} path={path} label={t.nav[area]} />
      ))}
    </ul>
  );
};
