import { useSignal } from '@preact/signals';
import { parseJsonValue } from '../../../shared/core/json.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Form } from '../../ui/form.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { say } from '../../ui/toast.tsx';

/** The fields that the service computes when a document is written, as JSON. */
export const EffectsForm = ({
  projectId,
  collection: { name: collectionName, effects = [] },
}: {
  readonly projectId: string;
  readonly collection: Data<'get-collection'>;
}) => {
  const typed = useSignal(JSON.stringify(effects, null, 2));
  const save = async () => {
    const body = { effects: parseJsonValue(typed.peek()) };
    const { hints = [] } = await request('update-collection', { projectId, collectionName, body });
    say([t.settings.saved, ...hints].join(' '));
  };
  return (
    <section class="card stack measure">
      <h2>{t.effects.title}</h2>
      <p>{t.effects.text}</p>
      <Form act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <JsonEditor
            low
            label={t.effects.json}
            text={typed.value}
            onInput={(text) => {
              typed.value = text;
            }}
            wrong={wrong('effects')}
          />
        )}
      </Form>
    </section>
  );
};
