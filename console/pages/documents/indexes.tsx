import { useRoute } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { List } from '../../ui/list.tsx';
import { Select } from '../../ui/select.tsx';
import type { Column } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import { CollectionPage } from './collection-page.tsx';

const kinds = ['1', '-1', '2dsphere', 'text'] as const;
type Kind = (typeof kinds)[number];

const kindOf = (kind: Kind): 1 | -1 | '2dsphere' | 'text' => (kind === '1' ? 1 : kind === '-1' ? -1 : kind);

export const Indexes = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const place = { projectId, collectionName };
  const { draft, set, replace } = useDraft<{ fields: string; kind: Kind }>({ fields: '', kind: '1' });
  const create = async () => {
    const sent = draft.peek();
    const fields = sent.fields.split(/[\s,]+/).filter(Boolean);
    await request('create-index', {
      ...place,
      body: { keys: Object.fromEntries(fields.map((field) => [field, kindOf(sent.kind)])) },
    });
    replace(sent, { ...sent, fields: '' });
    say(t.indexes.built);
  };
  const columns: readonly Column<Item<'list-indexes'>>[] = [
    { key: 'name', label: t.indexes.name, cell: ({ name }) => name },
    { key: 'keys', label: t.indexes.keys, cell: ({ keys }) => <span class="mono">{JSON.stringify(keys)}</span> },
    {
      key: 'delete',
      label: '',
      cell: ({ name }) => (
        <Act
          kind="plain"
          onAct={async () => {
            await request('delete-index', { ...place, indexName: name });
          }}
        >
          {t.acts.delete}
        </Act>
      ),
    },
  ];
  return (
    <CollectionPage part="indexes">
      <div class="stack">
        <Form act={t.indexes.build} onSubmit={create}>
          {(wrong) => (
            <div class="row">
              <Field
                label={t.indexes.fields}
                hint={t.indexes.fieldsWhy}
                required
                value={draft.value.fields}
                onInput={set('fields')}
                wrong={wrong('keys')}
              />
              <Select
                label={t.indexes.kind}
                value={draft.value.kind}
                options={kinds.map((kind) => [kind, t.indexes.kinds[kind]])}
                onInput={set('kind')}
              />
            </div>
          )}
        </Form>
        <List
          row="list-indexes"
          input={place}
          label={t.collection.parts.indexes}
          columns={columns}
          keyOf={({ name }) => name}
          empty={t.indexes.none}
        />
      </div>
    </CollectionPage>
  );
};
