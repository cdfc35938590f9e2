import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { Dialog, OnceDialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Snippet } from '../../ui/snippet.tsx';

/** Secret keys of projects that were created since the page was loaded, by project id. They are kept in memory only. */
export const madeKeys = new Map<string, string>();

/** Creates a project and shows its secret key once. */
export const NewProject = ({ onClose }: { readonly onClose: () => void }) => {
  const { route } = useLocation();
  const { draft, set } = useDraft({ name: '' });
  const made = useSignal<Data<'create-project'> | undefined>(undefined);
  const submit = async () => {
    const { data } = await request('create-project', { body: draft.value });
    madeKeys.set(data._id, data.secretKey);
    made.value = data;
  };
  if (made.value) {
    const { _id, name, secretKey, publishableKey } = made.value;
    return (
      <OnceDialog title={name} kept={t.projects.kept} onKept={() => route(`/projects/${_id}`)}>
        <p>{t.projects.made}</p>
        <h2>{t.projects.secretKey}</h2>
        <Snippet code={secretKey} label={t.projects.secretKey} />
        <h2>{t.projects.publishableKey}</h2>
        <Snippet code={publishableKey} label={t.projects.publishableKey} />
        <h2>{t.projects.env}</h2>
        <Snippet
          code={[
            `BASALT_URL=${service().api}`,
            `BASALT_PROJECT_ID=${_id}`,
            `BASALT_PUBLISHABLE_KEY=${publishableKey}`,
            `BASALT_SECRET_KEY=${secretKey}`,
          ].join('\n')}
          label={t.projects.env}
        />
      </OnceDialog>
    );
  }
  return (
    <Dialog title={t.projects.new} onClose={onClose}>
      <Form act={t.acts.create} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {(wrong) => (
          <Field
            label={t.projects.name}
            required
            maxLength={100}
            value={draft.value.name}
            onInput={set('name')}
            wrong={wrong('name')}
          />
        )}
      </Form>
    </Dialog>
  );
};
