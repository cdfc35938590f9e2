import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
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
const Newest = ({
  projectId,
  collectionName,
  onKnown,
}: {
  readonly projectId: string;
  readonly collectionName: string;
  readonly onKnown: (createdAt: string) => void;
}) => {
  const base = `/projects/${projectId}/documents/${collectionName}`;
  const { data } = useQuery('list-project-documents', { projectId, collectionName, query: { limit: 1 } }).value;
  const first = data && 'items' in data ? data.items[0] : undefined;
  const createdAt = typeof first?.createdAt === 'string' ? first.createdAt : undefined;
  useEffect(() => {
    if (createdAt !== undefined) onKnown(createdAt);
  }, [createdAt]);
  if (!first) return null;
  const id = textAt(first, '_id');
  return (
    <li>
      <span>
        <a href={`${base}?open=${id}`}>{nameOf(first)}</a> <span class="muted">{collectionName}</span>
      </span>
      {createdAt !== undefined && (
        <span class="small muted">
          <Time at={createdAt} />
        </span>
      )}
    </li>
  );
};

/** The latest rejected requests and users, and the newest document of the largest collections, newest first. */
export const Latest = ({ projectId }: { readonly projectId: string }) => {
  const base = `/projects/${projectId}`;
  const rejected = useQuery('list-refusals', latestRejected(projectId)).value.data?.items;
  const users = useQuery('list-users', latestUsers(projectId)).value;
  /** When the newest document of a collection was created. */
  const created = useSignal<Readonly<Record<string, string>>>({});
  const collections = (useEvery('list-collections', { projectId }).data ?? [])
    .filter(({ name, documents }) => name !== 'users' && documents !== null && documents > 0)
    .sort((a, b) => (b.documents ?? 0) - (a.documents ?? 0))
    .slice(0, shownCollections)
    .sort((a, b) => (created.value[b.name] ?? '').localeCompare(created.value[a.name] ?? ''));
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
              <Newest
                key={name}
                projectId={projectId}
                collectionName={name}
                onKnown={(at) => {
                  created.value = { ...created.peek(), [name]: at };
                }}
              />
            ))}
          </ul>
        )}
      </Card>
    </div>
  );
};
