import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Pager } from '../../ui/pager.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Cell } from './cell.tsx';
import { CollectionPage } from './collection-page.tsx';
import { columnsOf } from './columns.ts';
import { DocumentPanel } from './document-panel.tsx';
import { FilterBar } from './filter-bar.tsx';
import { InsertDocument } from './insert-document.tsx';
import { conditionsOf, listQuery, pageSize } from './list-address.ts';
import { SortHead } from './sort-head.tsx';

type DocumentsPage = Extract<Data<'list-project-documents'>, { readonly items: unknown }>;
export type ShownDocument = DocumentsPage['items'][number];

/** The documents of a collection. Filter, sort, page and the open row stand in the address. */
export const Documents = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const inserting = useSignal(false);
  const collection = useQuery('get-collection', { projectId, collectionName }).value;
  const list = useQuery('list-project-documents', { projectId, collectionName, query: listQuery(query) });
  const { data, problem } = list.value;
  const page = data && 'items' in data ? data : undefined;
  const go = (changes: Readonly<Record<string, string | undefined>>): void => route(addressWith(path, query, changes));
  const insert = () => {
    inserting.value = true;
  };
  const columns: readonly Column<ShownDocument>[] = columnsOf(collection.data?.schema, page?.items).map(
    (key, place) => ({
      key,
      label: <SortHead field={key} sort={query.sort} onSort={(sort) => go({ sort, page: undefined })} />,
      cell: (item) =>
        place === 0 ? (
          <a href={addressWith(path, query, { open: String(item._id) })} onClick={(event) => event.stopPropagation()}>
            <Cell value={item[key]} />
          </a>
        ) : (
          <Cell value={item[key]} />
        ),
    }),
  );
  const acts = (
    <Button kind="main-act" onClick={insert}>
      {t.documents.insert}
    </Button>
  );
  const request = `curl '${service().api}${addressWith(`/api/data/${collectionName}`, query, { open: undefined, columns: undefined })}' -H 'x-api-key: SECRET_KEY'`;
  return (
    <CollectionPage part="documents" acts={acts}>
      <div class="stack">
        <FilterBar
          conditions={conditionsOf(query)}
          fields={columns.map(({ key }) => key)}
          onChange={(changes) => go({ ...changes, page: undefined })}
        />
        {problem && <ProblemNote problem={problem} onRetry={list.reload} />}
        <div class={query.open ? 'halves' : undefined}>
          <div class="stack">
            {page?.items.length === 0 ? (
              <Empty text={conditionsOf(query).length === 0 ? t.documents.none : t.documents.noneFit} />
            ) : (
              <Table
                label={collectionName}
                columns={columns}
                items={page?.items}
                keyOf={({ _id }) => String(_id)}
                selected={query.open}
                onOpen={({ _id }) => go({ open: String(_id) })}
              />
            )}
            {page && (
              <div class="row small muted">
                <Pager
                  page={Number(query.page ?? 1)}
                  size={pageSize}
                  shown={page.items.length}
                  total={page.total}
                  capped={page.totalCapped ?? false}
                  onPage={(to) => go({ page: to === 1 ? undefined : String(to) })}
                />
                <span class="grow" />
                <Copy text={request} label={t.documents.copyRequest} />
              </div>
            )}
          </div>
          {query.open && (
            <DocumentPanel
              key={query.open}
              projectId={projectId}
              collectionName={collectionName}
              id={query.open}
              onClose={() => go({ open: undefined })}
            />
          )}
        </div>
      </div>
      {inserting.value && (
        <InsertDocument
          projectId={projectId}
          collectionName={collectionName}
          onClose={() => {
            inserting.value = false;
          }}
        />
      )}
    </CollectionPage>
  );
};
