import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { isNumber } from '../../../shared/collections/schema/field-types.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { addressWith } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Cell, isNameless } from './cell.tsx';
import { refOf, typeOf, valueAt } from './columns.ts';
import { moveToTrash } from './move-to-trash.ts';
import { idIn } from './ref-address.ts';
import { RefCell } from './ref-link.tsx';
import { SortHead } from './sort-head.tsx';

type DocumentsPage = Extract<Data<'list-project-documents'>, { readonly items: unknown }>;
export type ShownDocument = DocumentsPage['items'][number];

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

interface Ticking {
  readonly place: Place;
  readonly ids: readonly string[];
  readonly onTick: (ids: ReadonlySet<string>) => void;
}

/** The actions for the selected documents. */
const Ticked = ({ place, ids, onTick }: Ticking) => (
  <div class="row note" role="status">
    <strong>{t.table.ticked(ids.length)}</strong>
    <Act
      kind="danger"
      onAct={async () => {
        onTick(new Set());
        await moveToTrash(place, ids);
      }}
    >
      {t.acts.delete}
    </Act>
    <Button kind="plain" onClick={() => onTick(new Set())}>
      {t.table.tickNone}
    </Button>
  </div>
);

/** Times that the service sets. They are shown relative to now. */
const ofService: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'deletedAt']);

/** True if the documents that have a value there have a number. */
const areNumbers = (items: readonly ShownDocument[] | undefined, key: string): boolean => {
  const values = (items ?? []).map((item) => valueAt(item, key)).filter((value) => value !== undefined);
  return values.length > 0 && values.every((value) => typeof value === 'number');
};

const sortedBy = (field: string, sort: string | undefined): Column<unknown>['sorted'] =>
  sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : undefined;

export const DocumentsTable = ({
  place,
  rules,
  shown,
  items,
}: {
  readonly place: Place;
  readonly rules: readonly Field[];
  readonly shown: readonly string[];
  readonly items: readonly ShownDocument[] | undefined;
}) => {
  const { path, query, route } = useLocation();
  const ticked = useSignal<ReadonlySet<string>>(new Set());
  const onTick = (keys: ReadonlySet<string>) => {
    ticked.value = keys;
  };
  // Documents that another page or filter no longer shows are not deleted.
  const ids = (items ?? []).map(({ _id }) => String(_id)).filter((id) => ticked.value.has(id));
  const hrefOf = (id: unknown): string =>
    addressWith(path, query, { open: String(id), new: undefined, copy: undefined });
  const columns = shown.map((key, at): Column<ShownDocument> => {
    const sort = (to: string | undefined) => route(addressWith(path, query, { sort: to, page: undefined }));
    const ref = refOf(rules, key);
    const type = typeOf(rules, key);
    return {
      key,
      label: <SortHead field={key} sort={query.sort} onSort={sort} />,
      sorted: sortedBy(key, query.sort),
      ...((type ? isNumber(type) : areNumbers(items, key)) ? { number: true } : {}),
      cell: (item) => {
        const value = valueAt(item, key);
        if (at > 0 && ref !== undefined && idIn(value)) return <RefCell collectionName={ref} value={value} />;
        return at === 0 ? (
          <a href={hrefOf(item._id)}>
            <Cell value={isNameless(value) ? item._id : value} />
          </a>
        ) : (
          <Cell value={value} ago={ofService.has(key)} />
        );
      },
    };
  });
  return (
    <>
      {ids.length > 0 && <Ticked place={place} ids={ids} onTick={onTick} />}
      <Table
        label={place.collectionName}
        columns={columns}
        items={items}
        keyOf={({ _id }) => String(_id)}
        selected={query.open}
        onOpen={({ _id }) => route(hrefOf(_id))}
        ticked={new Set(ids)}
        onTick={onTick}
      />
    </>
  );
};
