import { useRoute } from 'preact-iso/router';
import { useEvery } from '../../api/query-every.ts';
import type { Item } from '../../api/rows.ts';
import { access } from '../../text/access.ts';
import { numberText } from '../../text/number.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Bytes } from '../../ui/bytes.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { type Audiences, audiencesOf, publicness, withoutUser, writersOf } from './audiences.ts';

const words = access.overview;

interface Row {
  readonly item: Item<'list-collections'>;
  /** Absent for `users`, which the API protects itself. */
  readonly access: Audiences | undefined;
}

const rowsOf = (items: readonly Item<'list-collections'>[]): readonly Row[] => {
  const known = items.map(collectionOf);
  const rows = items.map((item) => ({
    item,
    access: item.name === 'users' ? undefined : audiencesOf(collectionOf(item), known),
  }));
  const rank = ({ access }: Row) => (access ? publicness(access) : Number.POSITIVE_INFINITY);
  return rows.toSorted((one, other) => rank(one) - rank(other));
};

const Readers = ({ access: of }: Row) => {
  if (!of) return <>{words.ownAccount}</>;
  const text = words.audiences[of.read];
  return of.read === 'everyone' || of.read === 'some' ? <Badge kind="warning">⚠ {text}</Badge> : text;
};

const Writers = ({ access: of }: Row) => {
  if (!of) return <>{words.ownAccount}</>;
  const writers = writersOf(of);
  return (
    <>
      {writers.map(([audience, names]) => {
        const text = words.audiences[audience];
        const line =
          writers.length === 1 ? text : words.writers(text, names.map((name) => words.writes[name]).join(', '));
        return (
          <span key={audience} class="said">
            {audience === 'everyone' || audience === 'some' ? <Badge kind="danger">⚠ {line}</Badge> : line}
          </span>
        );
      })}
    </>
  );
};

/** Who reads and writes the collections of a project, the most public first. */
export const AccessOverview = () => {
  const { projectId = '' } = useRoute().params;
  const { data, problem } = useEvery('list-collections', { projectId, query: { stats: true } });
  const base = `/projects/${projectId}`;
  const columns: readonly Column<Row>[] = [
    {
      key: 'name',
      label: words.collection,
      cell: ({ item: { name } }) =>
        name === 'users' ? (
          <a href={`${base}/users`}>{name}</a>
        ) : (
          <a href={`${base}/documents/${name}/access`}>{name}</a>
        ),
    },
    { key: 'reads', label: words.reads, cell: (row) => <Readers {...row} /> },
    { key: 'writes', label: words.writesHead, cell: (row) => <Writers {...row} /> },
    {
      key: 'key',
      label: words.publishable,
      cell: ({ access: of }) => words.withoutUser[of ? withoutUser(of) : 'none'],
    },
    { key: 'feed', label: words.feed, cell: ({ item }) => (item.changes ? words.on : words.off) },
    {
      key: 'live',
      label: words.live,
      cell: ({ item, access: of }) => (item.changes && of ? words.audiences[of.list] : words.off),
    },
    { key: 'indexes', label: words.indexes, number: true, cell: ({ item }) => numberText(item.indexes ?? 0) },
    {
      key: 'documents',
      label: words.documents,
      number: true,
      cell: ({ item }) => (item.documents === null ? words.unknown : numberText(item.documents)),
    },
    {
      key: 'size',
      label: words.size,
      number: true,
      cell: ({ item: { bytes } }) => (typeof bytes === 'number' ? <Bytes of={bytes} /> : words.unknown),
    },
  ];
  return (
    <Page title={t.nav.access}>
      <div class="stack access-overview">
        <p class="measure">{words.text}</p>
        {problem && <ProblemNote problem={problem} />}
        {data?.length === 0 ? (
          <Empty text={words.none} />
        ) : (
          (data || !problem) && (
            <Table
              label={t.nav.access}
              columns={columns}
              items={data && rowsOf(data)}
              keyOf={({ item }) => item.name}
            />
          )
        )}
      </div>
    </Page>
  );
};
