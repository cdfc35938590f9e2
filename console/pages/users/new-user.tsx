import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

export const NewUser = ({ projectId, onClose }: { readonly projectId: string; readonly onClose: () => void }) => {
  const { draft, set } = useDraft({ email: '', password: '' });
  const submit = async () => {
    await request('create-user', { projectId, body: draft.value });
    onClose();
  };
  return (
    <Dialog title={t.users.new} onClose={onClose}>
      <Form act={t.acts.create} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {(wrong) => (
          <>
            <Field
              label={t.users.email}
              type="email"
              required
              value={draft.value.email}
              onInput={set('email')}
              wrong={wrong('email')}
            />
            <Field
              label={t.users.password}
              hint={t.signUp.password}
              type="password"
              autocomplete="new-password"
              required
              value={draft.value.password}
              onInput={set('password')}
              wrong={wrong('password')}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
};
