import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { say } from '../../ui/toast.tsx';
import { JsonField } from './json-field.tsx';
import { changesOf, jsonText, parsedObject } from './json-text.ts';

interface Props {
  readonly projectId: string;
  readonly collectionName: string;
  readonly id: string;
  readonly onClose: () => void;
}

/** One document beside its list: read, changed by saving, moved to the trash with a way back. */
export const DocumentPanel = ({ projectId, collectionName, id, onClose }: Props) => {
  const place = { projectId, collectionName, id };
  const found = useQuery('get-project-document', place);
  const { data, problem } = found.value;
  const text = useSignal('');
  const editing = useSignal(false);
  useEffect(() => {
    if (data && !editing.value) text.value = jsonText(data);
  }, [data, editing, text]);
  const save = async () => {
    const parsed = parsedObject(text.value);
    if ('wrong' in parsed) throw new Error(parsed.wrong);
    const { changes, removed } = changesOf(data ?? {}, parsed.value);
    if (removed.length > 0) throw new Error(t.documents.cannotRemove(removed.join(', ')));
    await request('update-project-document', { ...place, body: changes });
    editing.value = false;
    say(t.documents.saved);
  };
  const remove = async () => {
    await request('delete-project-document', place);
    onClose();
    say(t.documents.trashed, () => void request('restore-project-document', place));
  };
  return (
    <section class="card stack" aria-label={id}>
      <div class="row">
        <h2 class="mono">{id}</h2>
        <Copy text={id} />
        <span class="grow" />
        <Button kind="plain" aria-label={t.acts.close} onClick={onClose}>
          ✕
        </Button>
      </div>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {data &&
        (editing.value ? (
          <Form
            act={t.acts.save}
            cancel={t.acts.cancel}
            onCancel={() => {
              editing.value = false;
            }}
            onSubmit={save}
          >
            {() => <JsonField label={t.documents.json} text={text} />}
          </Form>
        ) : (
          <>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
            <pre class="card whole" tabIndex={0}>
              {jsonText(data)}
            </pre>
            <div class="row">
              <Button
                kind="main-act"
                onClick={() => {
                  editing.value = true;
                }}
              >
                {t.acts.edit}
              </Button>
              <Button kind="danger" onClick={() => void remove()}>
                {t.acts.delete}
              </Button>
            </div>
          </>
        ))}
    </section>
  );
};
