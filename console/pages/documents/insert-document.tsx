import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { say } from '../../ui/toast.tsx';
import { JsonField } from './json-field.tsx';
import { parsedObject } from './json-text.ts';

interface Props {
  readonly projectId: string;
  readonly collectionName: string;
  readonly onClose: () => void;
}

export const InsertDocument = ({ projectId, collectionName, onClose }: Props) => {
  const text = useSignal('{\n  \n}');
  const submit = async () => {
    const parsed = parsedObject(text.value);
    if ('wrong' in parsed) throw new Error(parsed.wrong);
    await request('create-project-document', { projectId, collectionName, body: parsed.value });
    say(t.documents.inserted);
    onClose();
  };
  return (
    <Dialog title={t.documents.insert} onClose={onClose}>
      <Form act={t.documents.insert} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {() => <JsonField label={t.documents.json} text={text} />}
      </Form>
    </Dialog>
  );
};
