import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { List } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { TemplateForm } from './template-form.tsx';
import { TemplatePanel } from './template-panel.tsx';

export const Templates = ({ projectId }: { readonly projectId: string }) => {
  const { path, query, route } = useLocation();
  const making = useSignal(false);
  const addressOf = (id: string | undefined) => addressWith(path, query, { open: id });
  const columns: readonly Column<Item<'list-mail-templates'>>[] = [
    {
      key: 'name',
      label: t.mail.name,
      cell: ({ _id, name, builtIn }) => (
        <>
          <a href={addressOf(_id)}>{name}</a> {builtIn && <Badge>{t.mail.builtIn}</Badge>}
        </>
      ),
    },
    { key: 'subject', label: t.mail.subject, cell: ({ subject }) => subject },
    { key: 'updated', label: t.mail.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ];
  return (
    <div class="stack">
      <div class="row">
        <Button
          kind="main-act"
          onClick={() => {
            making.value = true;
          }}
        >
          {t.mail.newTemplate}
        </Button>
      </div>
      <div class={query.open ? 'halves' : undefined}>
        <List
          row="list-mail-templates"
          input={{ projectId }}
          label={t.mail.parts.templates}
          columns={columns}
          keyOf={({ _id }) => _id}
          empty={t.mail.noTemplates}
          selected={query.open}
        />
        {query.open && (
          <TemplatePanel
            key={query.open}
            projectId={projectId}
            templateId={query.open}
            onClose={() => route(addressOf(undefined))}
          />
        )}
      </div>
      {making.value && (
        <TemplateForm
          projectId={projectId}
          onClose={() => {
            making.value = false;
          }}
        />
      )}
    </div>
  );
};
