import { useLocation } from 'preact-iso/router';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Field } from '../../ui/field.tsx';
import { List } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Refused = Item<'list-refusals'>;

const columns: readonly Column<Refused>[] = [
  { key: 'at', label: t.audit.at, cell: ({ at }) => <Time at={at} /> },
  { key: 'route', label: t.usage.route, cell: ({ route }) => <span class="mono">{route}</span> },
  {
    key: 'code',
    label: t.refusals.code,
    cell: ({ status, code }) => (
      <span class="mono">
        {status} {code}
      </span>
    ),
  },
  { key: 'message', label: t.refusals.message, cell: ({ message }) => message },
  {
    key: 'who',
    label: t.refusals.caller,
    cell: ({ key, userId, address }) => (
      <>
        <Badge>{key}</Badge> <span class="mono">{userId ?? address}</span>
      </>
    ),
  },
  { key: 'requestId', label: t.refusals.requestId, cell: ({ requestId }) => <span class="mono">{requestId}</span> },
];

/** Requests that the service refused, newest first. A code in the address narrows them. */
export const Refusals = ({ projectId }: { readonly projectId: string }) => {
  const { path, query, route } = useLocation();
  const { code } = query;
  return (
    <div class="stack">
      <div class="row">
        <Field
          label={t.refusals.code}
          value={code ?? ''}
          placeholder={t.refusals.example}
          onInput={(event) => {
            const chosen = event.currentTarget.value.trim().toUpperCase();
            route(addressWith(path, query, { code: chosen || undefined, page: undefined }), true);
          }}
        />
      </div>
      <List
        row="list-refusals"
        input={{ projectId, query: code ? { code } : {} }}
        label={t.refusals.title}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={t.refusals.none}
      />
    </div>
  );
};
