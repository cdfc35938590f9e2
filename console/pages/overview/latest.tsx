import type { ComponentChildren } from 'preact';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import { t } from '../../text/words.ts';
import { Time } from '../../ui/time.tsx';
import { nameOf } from '../documents/ref-address.ts';
import { userName } from '../users/user-name.ts';

const shownItems = 5;
const shownCollections = 5;

export const latestRejected = (projectId: string) => ({ projectId, query: { limit: shownItems } });
export const latestUsers = latestRejected;

interface LatestItem {
  readonly key: string;
  readonly href: string;
  readonly text: string;
  readonly at: string;
}

const Items = ({ items }: { readonly items: readonly LatestItem[] }) => (
  <ul class="latest">
    {items.map(({ key, href, text, at }) => (
      <li key={key}>
        <a href={href}>{text}</a>
        <span class="small muted">
          <Time at={at} />
        </span>
      </li>
    ))}
  </ul>
);

/** A card with a heading that leads to all of them. */
const Card = ({
  title,
  href,
  children,
}: {
  readonly title: string;
  readonly href?: string;
  readonly children: ComponentChildren;
}) => (
  <section class="card stack">
    <h2>{href === undefined ? title : <a href={href}>{title}</a>}</h2>
    {children}
  </section>
);

const None = ({ text }: { readonly text: string }) => <p class="muted">{text}</p>;

const textAt = (document: Readonly<Record<string, unknown>>, key: string): string => String(document[key]);

/** The newest document of a collection. */
const Newest = ({ projectId, collectionName }: { readonly projectId: string; readonly collectionName: string }) => {
  const base = `/projects/${projectId}/documents/${collectionName}`;
  const { data } = useQuery('list-project-documents', { projectId, collectionName, query: { limit: 1 } }).value;
  const first = data && 'items' in data ? data.items[0] : undefined;
  if (!first) return null;
  const id = textAt(first, '_id');
  return (
    <li>
      <span>
        <a href={`${base}?open=${id}`}>{nameOf(first)}</a> <span class="muted">{collectionName}</span>
      </span>
      {typeof first.createdAt === 'string' && (
        <span class="small muted">
          <Time at={first.createdAt} />
        </span>
      )}
    </li>
  );
};

/** The latest rejected requests and sign-ups, and the newest document of the largest collections. */
export const Latest = ({ projectId }: { readonly projectId: string }) => {
  const base = `/projects/${projectId}`;
  const rejected = useQuery('list-refusals', latestRejected(projectId)).value.data?.items;
  const users = useQuery('list-users', latestUsers(projectId)).value;
  const collections = (useEvery('list-collections', { projectId }).data ?? [])
    .filter(({ name, documents }) => name !== 'users' && documents !== null && documents > 0)
    .sort((a, b) => (b.documents ?? 0) - (a.documents ?? 0))
    .slice(0, shownCollections);
  return (
    <div class="charts">
      <Card title={t.summary.rejected} href={`${base}/requests`}>
        {rejected?.length === 0 ? (
          <None text={t.summary.noRejected} />
        ) : (
          <Items
            items={(rejected ?? []).map(({ _id, requestId, status, code, at }) => ({
              ...{ key: _id, at, text: `${status} ${code}` },
              href: `${base}/requests?open=${encodeURIComponent(requestId)}`,
            }))}
          />
        )}
      </Card>
      <Card title={t.summary.latestUsers} href={`${base}/users`}>
        {users.problem || users.data?.items.length === 0 ? (
          <None text={t.summary.noUsers} />
        ) : (
          <Items
            items={(users.data?.items ?? []).map((user) => ({
              ...{ key: user._id, at: String(user.createdAt), text: userName(user) },
              href: `${base}/users?open=${user._id}`,
            }))}
          />
        )}
      </Card>
      <Card title={t.summary.newest}>
        {collections.length === 0 ? (
          <None text={t.summary.noDocuments} />
        ) : (
          <ul class="latest">
            {collections.map(({ name }) => (
              <Newest key={name} projectId={projectId} collectionName={name} />
            ))}
          </ul>
        )}
      </Card>
    </div>
  );
};
