import { request } from '../../api/request.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { EmailField, NewPasswordField } from '../../ui/account-fields.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { leaving } from '../../ui/unsaved.tsx';

export const NewUser = ({ projectId, onClose }: { readonly projectId: string; readonly onClose: () => void }) => {
  const { draft, set } = useDraft({ email: '', password: '' });
  const submit = async () => {
    await request('create-user', { projectId, body: draft.value });
    onClose();
  };
  return (
    <Dialog title={users.new} onClose={() => leaving(onClose)}>
      <Form guarded act={t.acts.create} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {(wrong) => (
          <>
            <EmailField value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />
            <NewPasswordField value={draft.value.password} onInput={set('password')} wrong={wrong('password')} />
          </>
        )}
      </Form>
    </Dialog>
  );
};
