import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { List } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { SettingsProps } from './settings.tsx';

type Entry = Item<'list-audit-entries'>;

const columns: readonly Column<Entry>[] = [
  { key: 'at', label: t.audit.at, cell: ({ at }) => <Time at={at} /> },
  {
    key: 'who',
    label: t.audit.who,
    cell: ({ email, tokenId }) => (
      <>
        {email ?? t.audit.deleted} {tokenId && <Badge>{t.audit.token}</Badge>}
      </>
    ),
  },
  { key: 'action', label: t.audit.action, cell: ({ action }) => <span class="mono">{action}</span> },
  { key: 'target', label: t.audit.target, cell: ({ target }) => Object.values(target).join(' ') },
  {
    key: 'values',
    label: t.audit.values,
    cell: ({ values }) => (
      <span class="mono">
        {values
          .map(({ field, before, after }) => `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`)
          .join(', ')}
      </span>
    ),
  },
  { key: 'outcome', label: t.audit.outcome, cell: ({ outcome }) => t.audit.outcomes[outcome] },
];

export const AuditTrail = ({ project: { _id: projectId } }: SettingsProps) => (
  <List
    row="list-audit-entries"
    input={{ projectId }}
    label={t.settings.parts.audit}
    columns={columns}
    keyOf={({ _id }) => _id}
    empty={t.audit.none}
  />
);
