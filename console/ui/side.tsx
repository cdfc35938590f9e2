import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useEvery } from '../api/query-every.ts';
import { shortNumber } from '../text/number.ts';
import { t } from '../text/words.ts';
import { Icon } from './icon.tsx';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { leaving } from './unsaved.tsx';

const areas = ['access', 'users', 'files', 'mail', 'requests', 'usage', 'api', 'settings'] as const;
type Area = (typeof areas)[number];

const Place = ({ href, path, area }: { readonly href: string; readonly path: string; readonly area: Area }) => (
  <li>
    <a href={href} aria-current={path === href || path.startsWith(`${href}/`) ? 'page' : undefined}>
      <Icon name={area} />
      {t.nav[area]}
    </a>
  </li>
);

/** Loads the script of the page *Documents* before a click. */
const ahead = () => import('../pages/documents/documents.tsx').catch(() => undefined);

/** A collection and its number of documents; `null` if that is unknown. */
const CollectionPlace = ({
  href,
  path,
  name,
  documents,
  projectId,
}: {
  readonly projectId: string;
  readonly href: string;
  readonly path: string;
  readonly name: string;
  readonly documents: number | null;
}) => (
  <li class="counted">
    <a
      href={href}
      aria-current={path === href || path.startsWith(`${href}/`) ? 'page' : undefined}
      onPointerEnter={ahead}
      onFocus={ahead}
      onPointerDown={async () => (await ahead())?.prefetch(projectId, name)}
    >
      {name}
    </a>
    {documents !== null && (
      <span class="count" title={t.nav.documents(documents)}>
        {shortNumber(documents)}
      </span>
    )}
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
  const create = `${base}/new-collection`;
  const documents = first ? `${base}/documents/${first.name}` : create;
  const places = useRef<HTMLUListElement>(null);
  const known = data?.length;
  useEffect(() => {
    const present = places.current?.querySelector('.below [aria-current]');
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
  return (
    <ul ref={places}>
      <li>
        <a href={base} aria-current={path === base ? 'page' : undefined}>
          <Icon name="overview" />
          {t.nav.overview}
        </a>
      </li>
      <li class="many">
        <div class="side-head">
          <span class="side-label">{t.nav.data}</span>
          <a
            href={create}
            title={t.nav.newCollection}
            aria-label={t.nav.newCollection}
            aria-current={path === create ? 'page' : undefined}
          >
            <Icon name="plus" />
          </a>
        </div>
        <ul class="below">
          {collections?.map(({ name, documents: count }) => (
            <CollectionPlace
              key={name}
              {...{ projectId, path, name }}
              href={`${base}/documents/${name}`}
              documents={count}
            />
          ))}
        </ul>
      </li>
      {areas.map((area) => (
        <Place key={area} href={`${base}/${area}`} path={path} area={area} />
      ))}
    </ul>
  );
};
