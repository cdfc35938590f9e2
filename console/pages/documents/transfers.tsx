import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { useEvery } from '../../api/query-every.ts';
import { useRepeat } from '../../api/repeat.ts';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { transfers as texts } from '../../text/transfers.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Bytes } from '../../ui/bytes.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CollectionPage } from './collection-page.tsx';
import { ImportErrors } from './import-errors.tsx';
import { ImportForm } from './import-form.tsx';

type Transfer = Item<'list-transfers'>;

const lookMs = 2000;
const ended: ReadonlySet<Transfer['state']> = new Set(['done', 'failed', 'cancelled']);

const kinds = { done: 'good', failed: 'danger', cancelled: 'warning' } as const;

const State = ({ state }: Pick<Transfer, 'state'>) => (
  <Badge {...(state in kinds ? { kind: kinds[state as keyof typeof kinds] } : {})}>{texts.states[state]}</Badge>
);

/** The inserted documents, with a link to their list. */
const Inserted = ({ collection, inserted }: Pick<Transfer & { kind: 'import' }, 'collection' | 'inserted'>) => {
  const { projectId = '' } = useRoute().params;
  const text = texts.inserted(inserted);
  return inserted === 0 ? text : <a href={`/projects/${projectId}/documents/${collection}`}>{text}</a>;
};

const Progress = (transfer: Transfer) =>
  transfer.kind === 'export' ? (
    <>
      {transfer.count} · <Bytes of={transfer.bytes} />
    </>
  ) : (
    <>
      <Inserted {...transfer} /> · {texts.rejected(transfer.rejected)}
      {transfer.skipped > 0 && <> · {texts.skipped(transfer.skipped)}</>}
      {transfer.size !== null && transfer.size > 0 && !ended.has(transfer.state) && (
        <progress value={transfer.bytes} max={transfer.size} aria-label={texts.read} />
      )}{' '}
      {transfer.failure}
    </>
  );

const Kind = (transfer: Transfer) => (
  <>
    {texts.kinds[transfer.kind]}
    {transfer.kind === 'import' && transfer.fileName !== null && <> · {transfer.fileName}</>}
  </>
);

/** Exports and imports of a collection, running and finished. */
export const Transfers = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const place = { projectId, collectionName };
  const input = { projectId, query: { collection: collectionName } };
  const { list } = useListPage('list-transfers', input);
  const running = list.value.data?.items.some(({ state }) => !ended.has(state)) ?? false;
  const { reload: recount } = useEvery('list-collections', { projectId });
  const wasRunning = useRef(false);
  // The side bar counts the documents that an import has inserted.
  useEffect(() => {
    if (wasRunning.current && !running) recount();
    wasRunning.current = running;
  }, [running]);
  const importing = useSignal(false);
  const explained = useSignal<string | undefined>(undefined);
  useRepeat(running, list.reload, lookMs);
  const download = async (id: string) => {
    const { data } = await request('get-export', { ...place, id });
    if (data.url) location.assign(data.url);
  };
  const columns: readonly Column<Transfer>[] = [
    { key: 'kind', label: texts.kind, cell: Kind },
    { key: 'state', label: t.mail.state, cell: State },
    { key: 'progress', label: texts.progress, cell: Progress },
    { key: 'created', label: t.users.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'acts',
      label: '',
      cell: (transfer) => {
        const { _id: id, kind, state } = transfer;
        return ended.has(state) ? (
          <>
            {transfer.kind === 'import' && (transfer.rejected > 0 || transfer.failure !== null) && (
              <Button
                kind="plain"
                onClick={() => {
                  explained.value = id;
                }}
              >
                {texts.why}
              </Button>
            )}
            {kind === 'export' && state === 'done' && (
              <Act kind="plain" onAct={() => download(id)}>
                {t.transfers.download}
              </Act>
            )}
            <Act
              kind="plain"
              onAct={async () => {
                await request('delete-transfer', { projectId, id });
              }}
            >
              {texts.remove}
            </Act>
          </>
        ) : (
          <Act
            kind="plain"
            onAct={async () => {
              await request('cancel-transfer', { projectId, id });
            }}
          >
            {t.acts.cancel}
          </Act>
        );
      },
    },
  ];
  const acts = (
    <>
      <Act
        onAct={async () => {
          await request('start-export', { ...place, body: { format: 'ndjson' } });
          list.reload();
        }}
      >
        {t.transfers.export}
      </Act>
      <Act
        onAct={async () => {
          importing.value = true;
        }}
      >
        {texts.import}
      </Act>
    </>
  );
  return (
    <CollectionPage part="transfers" acts={acts}>
      <List
        row="list-transfers"
        input={input}
        label={t.collection.parts.transfers}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={texts.none}
      />
      {explained.value && (
        <ImportErrors
          {...place}
          id={explained.value}
          onClose={() => {
            explained.value = undefined;
          }}
        />
      )}
      {importing.value && (
        <ImportForm
          {...place}
          onClose={() => {
            importing.value = false;
            list.reload();
          }}
        />
      )}
    </CollectionPage>
  );
};
