import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { List } from '../../ui/list.tsx';
import { Listed } from '../../ui/listed.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { TemplateForm } from './template-form.tsx';
import { TemplatePanel } from './template-panel.tsx';

const columnsOf = (addressOf: (id: string) => string): readonly Column<Item<'list-mail-templates'>>[] => [
  {
    key: 'name',
    label: t.mail.name,
    cell: ({ _id, name }) => <a href={addressOf(_id)}>{name}</a>,
  },
  { key: 'subject', label: t.mail.subject, cell: ({ subject }) => subject },
  { key: 'updated', label: t.mail.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export const Templates = ({ projectId }: { readonly projectId: string }) => (
  <Listed
    act={t.mail.newTemplate}
    list={(open, addressOf, onOpen) => (
      <List
        row="list-mail-templates"
        input={{ projectId }}
        label={t.mail.parts.templates}
        columns={columnsOf(addressOf)}
        keyOf={({ _id }) => _id}
        group={({ builtIn }) => (builtIn ? t.mail.builtIn : t.mail.own)}
        empty={t.mail.noTemplates}
        selected={open}
        onOpen={({ _id }) => onOpen(_id)}
      />
    )}
    panel={(open, onClose) => <TemplatePanel key={open} projectId={projectId} templateId={open} onClose={onClose} />}
    form={(_, onClose) => <TemplateForm projectId={projectId} onClose={onClose} />}
  />
);
