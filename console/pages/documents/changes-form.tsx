import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';

export const ChangesForm = ({
  projectId,
  collection: { name: collectionName, changes, schema, partition: before = '' },
}: {
  readonly projectId: string;
  readonly collection: Data<'get-collection'>;
}) => {
  const on = useSignal(changes);
  const partition = useSignal(before);
  const fields = (schema ?? []).filter(({ type }) => type === 'String' || type === 'Ref').map(({ key }) => key);
  const save = async () => {
    const body = { changes: on.value, partition: partition.value || null };
    await request('update-collection', { projectId, collectionName, body });
    say(t.settings.saved);
  };
  return (
    <section class="card stack measure">
      <h2>{t.changes.title}</h2>
      <p>{on.value ? t.changes.on : t.changes.off}</p>
      <Form act={t.acts.save} onSubmit={save}>
        {() => (
          <>
            <Switch
              label={t.changes.enabled}
              on={on.value}
              onChange={(is) => {
                on.value = is;
              }}
            />
            {on.value && fields.length > 0 && (
              <Select
                label={t.changes.partition}
                hint={t.changes.partitionWhy}
                value={partition.value}
                options={[['', t.changes.unpartitioned], ...fields.map((field) => [field, field] as const)]}
                onInput={({ currentTarget: { value } }) => {
                  partition.value = value;
                }}
              />
            )}
          </>
        )}
      </Form>
    </section>
  );
};
