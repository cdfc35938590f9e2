import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Form } from '../../ui/form.tsx';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';

export const ChangesForm = ({
  projectId,
  collection: { name: collectionName, changes },
}: {
  readonly projectId: string;
  readonly collection: Data<'get-collection'>;
}) => {
  const on = useSignal(changes);
  const save = async () => {
    await request('update-collection', { projectId, collectionName, body: { changes: on.value } });
    say(t.settings.saved);
  };
  return (
    <section class="card stack measure">
      <h2>{t.changes.title}</h2>
      <p>{on.value ? t.changes.on : t.changes.off}</p>
      <Form act={t.acts.save} onSubmit={save}>
        {() => (
          <Switch
            label={t.changes.enabled}
            on={on.value}
            onChange={(is) => {
              on.value = is;
            }}
          />
        )}
      </Form>
    </section>
  );
};
