import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Field, systemFields } from '../../../shared/collections/collection.ts';
import { isNumber } from '../../../shared/collections/schema/field-types.ts';
import type { Data } from '../../api/rows.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { addressWith } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { BulkForm } from './bulk-form.tsx';
import { Cell, isNameless } from './cell.tsx';
import { CellEditor } from './cell-editor.tsx';
import { useColumnLayout } from './column-layout.ts';
import { refOf, typeOf, valueAt } from './columns.ts';
import { isFilePath } from './file-paths.ts';
import { FileLink } from './file-value.tsx';
import { moveToTrash } from './move-to-trash.ts';
import { idIn } from './ref-address.ts';
import { RefCell, RefName } from './ref-link.tsx';
import { SortHead } from './sort-head.tsx';

type DocumentsPage = Extract<Data<'list-project-documents'>, { readonly items: unknown }>;
type ShownDocument = DocumentsPage['items'][number];

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

/** All documents that the filter shows, on every page. */
interface Matching {
  readonly where: Readonly<Record<string, unknown>>;
  readonly total: number;
  readonly capped: boolean;
}

interface Ticking {
  readonly place: Place;
  readonly ids: readonly string[];
  readonly onTick: (ids: ReadonlySet<string>) => void;
  readonly rules: readonly Field[];
  readonly fields: readonly string[];
  /** Absent if a request cannot name them, or the page shows them all. */
  readonly matching: Matching | undefined;
}

/** The actions for the selected documents, or for all that match. */
const Ticked = ({ place, ids, onTick, rules, fields, matching }: Ticking) => {
  const isAll = useSignal(false);
  const doing = useSignal<'update' | 'delete' | undefined>(undefined);
  const all = isAll.value ? matching : undefined;
  const end = () => {
    doing.value = undefined;
    onTick(new Set());
  };
  return (
    <div class="row note ticked" role="status">
      <strong>{all ? rows.many.allTicked(all.total, all.capped) : t.table.ticked(ids.length)}</strong>
      {matching && !all && (
        <Button
          kind="plain"
          onClick={() => {
            isAll.value = true;
          }}
        >
          {rows.many.all(matching.total, matching.capped)}
        </Button>
      )}
      <Button
        onClick={() => {
          doing.value = 'update';
        }}
      >
        {rows.many.set}
      </Button>
      <Act
        kind="danger"
        onAct={async () => {
          if (all) {
            doing.value = 'delete';
            return;
          }
          onTick(new Set());
          await moveToTrash(place, ids);
        }}
      >
        {t.acts.delete}
      </Act>
      <Button kind="plain" onClick={() => onTick(new Set())}>
        {t.table.tickNone}
      </Button>
      {doing.value && (
        <BulkForm
          {...place}
          act={doing.value}
          where={all ? all.where : { _id: { $in: ids } }}
          rules={rules}
          fields={fields}
          onClose={() => {
            doing.value = undefined;
          }}
          onDone={end}
        />
      )}
    </div>
  );
};

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
  fields,
  items,
  matching,
  onColumns,
  isReadOnly,
}: {
  readonly place: Place;
  readonly rules: readonly Field[];
  readonly shown: readonly string[];
  readonly fields: readonly string[];
  readonly items: readonly ShownDocument[] | undefined;
  readonly matching: Matching | undefined;
  readonly onColumns: (columns: readonly string[]) => void;
  readonly isReadOnly: boolean;
}) => {
  const { path, query, route } = useLocation();
  const ticked = useSignal<ReadonlySet<string>>(new Set());
  const box = useRef<HTMLDivElement>(null);
  const at = useSignal<{ readonly key: string; readonly column: string } | undefined>(undefined);
  const { value: edited } = at;
  const endEdit = (from: NonNullable<typeof edited>) => {
    at.value = undefined;
    // The cell is drawn again first.
    requestAnimationFrame(() => {
      const row = (items ?? []).findIndex(({ _id }) => String(_id) === from.key);
      const cell = box.current?.querySelectorAll('tbody tr')[row]?.querySelectorAll<HTMLElement>('td:not(.tick)');
      cell?.[shown.indexOf(from.column)]?.focus();
    });
  };
  const onTick = (keys: ReadonlySet<string>) => {
    ticked.value = keys;
  };
  // Documents that another page or filter no longer shows are not deleted.
  const ids = (items ?? []).map(({ _id }) => String(_id)).filter((id) => ticked.value.has(id));
  const hrefOf = (id: unknown): string =>
    addressWith(path, query, { open: String(id), new: undefined, copy: undefined });
  const layout = useColumnLayout(place);
  const onMove = (column: string, to: string) =>
    onColumns(shown.toSpliced(shown.indexOf(column), 1).toSpliced(shown.indexOf(to), 0, column));
  const isNumeric = (key: string): boolean => {
    const type = typeOf(rules, key);
    return type ? isNumber(type) : areNumbers(items, key);
  };
  // By the collection that they refer to, in one order, so that all cells ask for the same.
  const referred = new Map<string, readonly string[]>();
  for (const key of shown) {
    const target = refOf(rules, key);
    if (target === undefined) continue;
    const found = (items ?? []).flatMap((item) => idIn(valueAt(item, key)) ?? []);
    referred.set(target, [...new Set([...(referred.get(target) ?? []), ...found])].sort());
  }
  const columns = shown.map((key, index): Column<ShownDocument> => {
    const sort = (to: string | undefined) => route(addressWith(path, query, { sort: to, page: undefined }));
    const ref = refOf(rules, key);
    return {
      key,
      label: (
        <SortHead
          field={key}
          sort={query.sort}
          onSort={sort}
          onMove={onMove}
          beside={{ ArrowLeft: shown[index - 1], ArrowRight: shown[index + 1] }}
          onWidth={(width) => layout.setWidth(key, width)}
        />
      ),
      width: layout.widths[key],
      sorted: sortedBy(key, query.sort),
      ...(isNumeric(key) ? { number: true } : {}),
      cell: (item) => {
        const value = valueAt(item, key);
        if (ref !== undefined && idIn(value)) {
          const reference = { collectionName: ref, value, ids: referred.get(ref) ?? [] };
          return index > 0 ? (
            <RefCell {...reference} />
          ) : (
            <>
              <a href={hrefOf(item._id)}>
                <RefName {...reference} />
              </a>{' '}
              <RefCell {...reference} short />
            </>
          );
        }
        if (index > 0 && isFilePath(value)) return <FileLink path={value} />;
        return index === 0 ? (
          <a href={hrefOf(item._id)}>
            <Cell value={isNameless(value) ? item._id : value} />
          </a>
        ) : (
          <Cell value={value} ago={ofService.has(key)} />
        );
      },
    };
  });
  const editing = {
    // Sub-fields are edited in the document, whose draft has them all.
    can: (column: string) => !systemFields.has(column) && !column.includes('.'),
    at: edited,
    onBegin: (key: string, column: string) =>
      leaving(() => {
        at.value = { key, column };
      }),
    editor: edited && (
      <CellEditor
        key={`${edited.key} ${edited.column}`}
        {...place}
        id={edited.key}
        column={edited.column}
        rules={rules}
        unknownType={isNumeric(edited.column) ? 'Number' : 'String'}
        onDone={() => endEdit(edited)}
      />
    ),
  };
  return (
    <div ref={box} class="stack">
      <Table
        label={place.collectionName}
        columns={columns}
        items={items}
        keyOf={({ _id }) => String(_id)}
        selected={query.open}
        onOpen={({ _id }) => route(hrefOf(_id))}
        {...(!isReadOnly && { ticked: new Set(ids), onTick, editing })}
        frozen={layout.frozen}
      />
      {/* Below, so that the rows do not move while they are ticked. */}
      {!isReadOnly && ids.length > 0 && (
        <Ticked
          {...{ place, ids, onTick, rules, fields }}
          matching={ids.length === items?.length && matching && matching.total > ids.length ? matching : undefined}
        />
      )}
    </div>
  );
};
