import { useQuery } from '../../api/query.ts';
import { access } from '../../text/access.ts';
import { Button } from '../../ui/button.tsx';
import { Choose } from '../../ui/choose.tsx';
import { Combobox, useTyped } from '../../ui/combobox.tsx';
import { UsersProblem } from '../users/turn-on-accounts.tsx';
import { userName } from '../users/user-name.ts';

/** A user of the app: their id, and the name that the reader knows. */
export interface ChosenUser {
  readonly id: string;
  readonly name: string;
}

const maxShown = 10;

/** Finds a user by email. */
export const UserSearch = ({
  projectId,
  onChoose,
}: {
  readonly projectId: string;
  readonly onChoose: (user: ChosenUser) => void;
}) => {
  const { typed, settled } = useTyped();
  const query = { limit: maxShown, ...(settled.value && { email: settled.value }) };
  const { data, problem } = useQuery('list-users', { projectId, query }).value;
  const found = data?.items.map((user) => ({ id: user._id, label: userName(user) }));
  return (
    <>
      <Combobox
        label={access.tried.chooseUser}
        hint={access.tried.userHint}
        typed={typed}
        found={found}
        onChoose={({ id, label }) => onChoose({ id, name: label })}
      />
      <UsersProblem
        projectId={projectId}
        problem={problem}
        isEmpty={settled.value === '' && data?.items.length === 0}
      />
    </>
  );
};

export const UserPicker = ({
  projectId,
  user,
  none = access.tried.noUser,
  onChoose,
}: {
  readonly projectId: string;
  readonly user: ChosenUser | undefined;
  /** Shown if no user is chosen. */
  readonly none?: string;
  readonly onChoose: (user: ChosenUser | undefined) => void;
}) => (
  <div class="field">
    <span class="label">{access.tried.user}</span>
    <div class="row">
      <span class="user-name">{user?.name ?? none}</span>
      <Choose title={access.tried.chooseUser} act={access.tried.chooseUser} onChoose={onChoose}>
        {(choose) => <UserSearch projectId={projectId} onChoose={choose} />}
      </Choose>
      {user && (
        <Button kind="plain" onClick={() => onChoose(undefined)}>
          {access.tried.removeUser}
        </Button>
      )}
    </div>
  </div>
);
