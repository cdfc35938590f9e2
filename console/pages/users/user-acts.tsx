import { useSignal } from '@preact/signals';
import { useEvery } from '../../api/query-every.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { addressWith } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Menu } from '../../ui/menu.tsx';
import { EditUser } from './edit-user.tsx';
import { userName } from './user-name.ts';

interface Props {
  readonly projectId: string;
  readonly user: Data<'get-user'>;
  readonly onDeleted: () => void;
}

/** Leads to a collection as the user sees it. */
const ViewAs = ({ projectId, user }: Omit<Props, 'onDeleted'>) => {
  const { data } = useEvery('list-collections', { projectId });
  const collections = data?.filter(({ name }) => name !== 'users') ?? [];
  return collections.length === 0 ? null : (
    <Menu title={users.viewAs} label={<>{users.viewAs} ▾</>}>
      {collections.map(({ name }) => (
        <a key={name} href={addressWith(`/projects/${projectId}/documents/${name}`, {}, { as: user._id })}>
          {name}
        </a>
      ))}
    </Menu>
  );
};

/** What can be done with a user. */
export const UserActs = ({ projectId, user, onDeleted }: Props) => {
  const id = user._id;
  const asking = useSignal<'edit' | 'disable' | 'delete' | undefined>(undefined);
  const ask = (what: typeof asking.value) => () => {
    asking.value = what;
  };
  const close = ask(undefined);
  const disable = async (disabled: boolean) => {
    await request('update-user', { projectId, id, body: { disabled } });
    close();
  };
  const name = userName(user);
  return (
    <div class="row">
      <Button onClick={ask('edit')}>{t.acts.edit}</Button>
      {user.disabled ? (
        <Act onAct={() => disable(false)}>{users.enable}</Act>
      ) : (
        <Button onClick={ask('disable')}>{users.disable}</Button>
      )}
      <Button kind="danger" onClick={ask('delete')}>
        {t.acts.delete}
      </Button>
      <ViewAs projectId={projectId} user={user} />
      {asking.value === 'edit' && <EditUser projectId={projectId} user={user} onClose={close} />}
      {asking.value === 'disable' && (
        <Dialog title={users.disableTitle(name)} onClose={close}>
          <p>{users.disableWhy}</p>
          <Form act={users.disable} cancel={t.acts.cancel} onCancel={close} onSubmit={() => disable(true)}>
            {() => null}
          </Form>
        </Dialog>
      )}
      {asking.value === 'delete' && (
        <Confirm
          title={users.deleteTitle}
          text={users.deleteText}
          name={name}
          label={t.acts.typeText(name)}
          act={t.acts.delete}
          onConfirm={async () => {
            await request('delete-user', { projectId, id });
            onDeleted();
          }}
          onClose={close}
        />
      )}
    </div>
  );
};
