// A team board: workspaces, members with roles, invitations, cards, comments, files, live updates and presence.
import { basalt } from '@basalt/client';
import { presence } from '@basalt/client/presence';
import { key, url } from './project.js';

const app = basalt(url, key);
const at = (id) => document.getElementById(id);

/** The user's membership in the open workspace, its cards and room, and the card in the dialog. */
let [current, room, cardId, cards = [], ends = []] = [];

const canWrite = () => current.role !== 'reader';
const isOwner = () => current.role === 'owner';
const workspaceId = () => current.workspace._id;

const messages = {
  RULE_DENIED: 'Your role in this workspace does not allow that.',
  NO_ANSWER: 'The service cannot be reached. Check your connection and try again.',
  INVITATION_NOT_FOUND: 'This invitation has expired, was used already, or is for another email address.',
};

/** Shows a message on the page, or in the dialog that covers it. */
const say = (text, role = 'status') => {
  const place = document.querySelector('dialog[open]') ?? document.body;
  place.querySelector(`:scope > [role=${role}]`).textContent = text;
};

const report = (error) => {
  if (error.code === 'EMAIL_NOT_VERIFIED') show('confirm');
  say(messages[error.code] ?? error.errors?.[0]?.message ?? error.message, 'alert');
  // The role may have changed, or the membership may have ended.
  if (document.body.dataset.part === 'board' && [403, 404].includes(error.status)) load().catch(console.error);
};

/** Does what a control asks for, and shows what went wrong. Until then the control is disabled. */
const attempt = (act, control = {}) => {
  for (const role of ['alert', 'status']) say('', role);
  control.disabled = true;
  act()
    .catch(report)
    .finally(() => {
      control.disabled = false;
      if (document.activeElement === document.body) control.focus?.();
    });
};

/** Waits for a write, tells the others in the room what has changed, and shows it here. */
const change = (write, event, showChange) => write.then(() => room.send(event)).then(() => showChange());

const onClick = (id, act) => {
  at(id).onclick = ({ target }) => attempt(act, target);
};

const onSubmit = (form, act) => {
  form.onsubmit = (event) => {
    event.preventDefault();
    const send = () => act(Object.fromEntries(new FormData(form)), event.submitter?.value);
    attempt(() => send().then(() => form.reset()), event.submitter);
  };
};

/** A copy of a template. Its parts get a text, an element or an action; those without a value are left out. */
const copy = (name, parts = {}) => {
  const element = at(`${name}-template`).content.firstElementChild.cloneNode(true);
  for (const [part, value] of Object.entries(parts)) {
    const place = element.querySelector(`[data-part=${part}]`);
    if (value instanceof Function) place.onclick = () => attempt(value, place);
    else if (value instanceof Node) place.replaceWith(value);
    else if (value) place.textContent = value;
    else place.remove();
  }
  return element;
};

/** A picture of a user, unless the account was deleted. */
const avatar = (user) => {
  if (!user?.name) return undefined;
  const textContent = user.name.replace(/(\S)\S*\s*/g, '$1').slice(0, 2);
  const className = `avatar tone${Number.parseInt(user._id.slice(-2), 16) % 6}`;
  return Object.assign(copy('avatar'), { className, textContent, title: user.name, ariaLabel: user.name });
};

/* Columns and cards */

const columnOf = ({ column }) => (current.workspace.columns.includes(column) ? column : current.workspace.columns[0]);
const cardsIn = (column) => cards.filter((card) => columnOf(card) === column).sort((a, b) => a.position - b.position);
const cardById = (id) => cards.find(({ _id }) => _id === id);

/** Moves a card to a place in a column: here immediately, and back if the service rejects it. */
const move = async (card, column, place = cards.length) => {
  const others = cardsIn(column).filter((other) => other !== card);
  const { position: above } = others.slice(0, place).at(-1) ?? {};
  const { position: below = (above ?? 0) + 2 } = others[place] ?? {};
  const after = { column, position: ((above ?? below - 2) + below) / 2 };
  const put = (values) => showCards(cards.map((other) => (other._id === card._id ? { ...card, ...values } : other)));
  put(after);
  await app.cards.update(card._id, after).catch((error) => {
    put({});
    throw error;
  });
};

const cardItem = (card) => {
  const { _id, title, comments, text, assignee } = card;
  const count = comments > 0 && `${comments} comment${comments > 1 ? 's' : ''}`;
  const notes = [text && 'Description', count].filter(Boolean).join(' · ');
  const item = copy('card', { title, notes, picture: avatar(assignee) });
  item.querySelector('button').onclick = () => openCard(card);
  item.ondragstart = ({ dataTransfer }) => dataTransfer.setData('text/plain', _id);
  item.onkeydown = ({ altKey, key: pressed }) => {
    const place = cardsIn(columnOf(card)).indexOf(card) + { ArrowUp: -1, ArrowDown: 1 }[pressed];
    if (altKey && canWrite() && place >= 0) attempt(() => move(card, columnOf(card), place));
  };
  return Object.assign(item, { id: _id, draggable: canWrite() });
};

/** Shows these cards, at first or after a change. */
const showCards = (found) => {
  cards = found;
  const focused = document.activeElement.closest('.card')?.id;
  for (const section of document.querySelectorAll('.column')) {
    const ofColumn = cardsIn(section.ariaLabel);
    section.querySelector('ol').replaceChildren(...ofColumn.map(cardItem));
    section.querySelector('small').textContent = ofColumn.length;
  }
  at(focused)?.querySelector('button').focus();
  if (cardId) fillCard();
};

const columnSection = (column) => {
  const section = Object.assign(copy('column', { title: column }), { ariaLabel: column });
  onSubmit(section.querySelector('form'), ({ title }) => {
    const position = (cardsIn(column).at(-1)?.position ?? 0) + 1;
    return app.cards.insert({ workspace: workspaceId(), column, position, title });
  });
  section.ondragover = (event) => event.preventDefault();
  section.ondrop = (event) => {
    event.preventDefault();
    const card = cardById(event.dataTransfer.getData('text/plain'));
    const isAbove = (item) => item.getBoundingClientRect().top + item.offsetHeight / 2 < event.clientY;
    const above = [...section.querySelectorAll('.card')].filter((item) => item.id !== card?._id && isAbove(item));
    if (card) attempt(() => move(card, column, above.length));
  };
  return section;
};

onSubmit(at('add-column'), ({ column }) => {
  const columns = [...current.workspace.columns, column];
  return change(app.workspaces.update(workspaceId(), { columns }), { isChanged: true }, load);
});

/* The dialog of a card */

const fields = Object.fromEntries([...at('fields').querySelectorAll('[name]')].map((field) => [field.name, field]));

/** Shows the card as it is now, except in the field in which the user is. */
const fillCard = () => {
  const card = cardById(cardId);
  if (!card) return at('card').close();
  const values = { ...card, text: card.text ?? '', column: columnOf(card), assignee: card.assignee?._id ?? '' };
  for (const field of Object.values(fields)) if (field !== document.activeElement) field.value = values[field.name];
  at('fields').disabled = !canWrite();
};

at('fields').onchange = ({ target: { name, value } }) => {
  const update = () => app.cards.update(cardId, { [name]: value || null });
  attempt(name === 'column' ? () => move(cardById(cardId), value) : update);
};

const openFile = async (path) => {
  // Browsers block a window that opens after a wait.
  const tab = open('', '_blank');
  const [{ url: link }] = await app.files.sign([path]);
  tab.location = link ?? 'about:blank';
};

const showFiles = async () => {
  const row = ({ path, name, size }) => {
    const remove = canWrite() && (() => change(app.files.delete(path), { filesOf: cardId }, showFiles));
    return copy('file', { name, size: `${Math.ceil(size / 1024)} KB`, remove, open: () => openFile(path) });
  };
  at('files').replaceChildren(...(await Array.fromAsync(app.files.of('cards', cardId))).map(row));
};

at('attach').onchange = ({ target }) => {
  const upload = app.files.upload(target.files[0], { of: { collection: 'cards', id: cardId } });
  attempt(() => change(upload, { filesOf: cardId }, showFiles).finally(() => target.form.reset()), target);
};

const commentRow = ({ _id, author, text, createdAt }) => {
  const when = new Date(createdAt).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  const about = `${author?.name ?? 'A former user'}, ${when}`;
  const remove = (author?._id === localStorage.me || isOwner()) && (() => app.comments.delete(_id));
  return copy('comment', { picture: avatar(author), about, text, remove });
};

onSubmit(at('comment'), ({ text }) => app.comments.insert({ card: cardId, text }));

const members = () =>
  app.memberships.list({ where: { workspace: workspaceId() }, populate: 'user', sort: '_id', limit: 100 });

const openCard = ({ _id, assignee }) => {
  cardId = _id;
  const fillUsers = (users) => {
    const known = new Map(users.filter((user) => user?.name).map((user) => [user._id, user.name]));
    const options = [...known].map(([id, name]) => new Option(name, id));
    fields.assignee.replaceChildren(new Option('No one', ''), ...options);
    fillCard();
  };
  fields.column.replaceChildren(...current.workspace.columns.map((column) => new Option(column)));
  fillUsers([assignee]);
  for (const id of ['files', 'comments']) at(id).replaceChildren();
  at('card').showModal();
  const list = (comments) => at('comments').replaceChildren(...comments.map(commentRow));
  const end = app.comments.live({ workspace: workspaceId(), card: cardId }, list, { populate: 'author' });
  at('card').onclose = () => {
    end();
    cardId = undefined;
  };
  const loadUsers = async () => fillUsers([assignee, ...(await members()).items.map(({ user }) => user)]);
  attempt(() => Promise.all([showFiles(), loadUsers()]));
};

onClick('delete-card', async () => {
  if (confirm('Delete this card, with its comments and files?')) await app.cards.delete(cardId, { permanent: true });
});

/* Members and invitations */

const showMembers = async () => {
  const [{ items, total }, invitations] = await Promise.all([members(), isOwner() ? app.auth.invitations() : []]);
  const after = (write) => change(write, { isChanged: true }, showMembers);
  const row = ({ _id, user, role }) => {
    const isOther = user._id !== localStorage.me;
    const remove = isOwner() && isOther && (() => after(app.memberships.delete(_id, { permanent: true })));
    const item = copy('member', { picture: avatar(user), name: user.name + (isOther ? '' : ' (you)'), remove });
    const select = Object.assign(item.querySelector('select'), { value: role, disabled: !remove });
    select.onchange = () => attempt(() => after(app.memberships.update(_id, { role: select.value })), select);
    return item;
  };
  const pending = ({ _id, email, document }) => {
    const withdraw = () => after(app.auth.deleteInvitation(_id));
    return copy('invitation', { text: `${email} is invited as ${document.fields.role}`, withdraw });
  };
  const ofHere = invitations.filter(({ document }) => document.fields.workspace === workspaceId());
  at('count').textContent = total > items.length ? `The first ${items.length} of ${total} members` : '';
  at('people').replaceChildren(...items.filter(({ user }) => user?.name).map(row));
  at('invitations').replaceChildren(...ofHere.map(pending));
  at('end').textContent = isOwner() ? 'Delete workspace' : 'Leave workspace';
};

onClick('open-members', () => {
  at('members').showModal();
  return showMembers();
});

onSubmit(at('invite'), ({ email, role }) => {
  const document = { collection: 'memberships', fields: { workspace: workspaceId(), role } };
  return change(app.auth.sendInvitation({ email, document, userField: 'user' }), {}, showMembers);
});

onClick('end', async () => {
  const [collection, id] = isOwner() ? [app.workspaces, workspaceId()] : [app.memberships, current._id];
  const isMeant = confirm(`${at('end').textContent} “${current.workspace.title}”?`);
  if (isMeant) await collection.delete(id, { permanent: true }).then(load);
});

/* Workspaces and accounts */

const stop = () => {
  for (const end of ends.splice(0)) end();
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
  for (const id of ['here', 'columns']) at(id).replaceChildren();
};

/** Shows one part of the page. */
const show = (part) => {
  if (part !== 'board') stop();
  document.body.dataset.part = part;
};

/** The room only proves ids; the directory has the names. */
const showHere = async (people) => {
  const ids = people.map(({ userId }) => userId).filter((id) => id !== localStorage.me);
  const { items } = ids.length > 0 ? await app.auth.users({ ids: ids.slice(0, 100) }) : { items: [] };
  const who = items.length > 2 ? `${items.length} others` : items.map(({ name }) => name).join(' and ');
  const text = items.length > 0 ? `${who} ${items.length > 1 ? 'are' : 'is'} here` : '';
  at('here').replaceChildren(...items.slice(0, 4).map(avatar), text);
};

const openBoard = () => {
  stop();
  cards = [];
  const onEvent = ({ isChanged, filesOf }) => {
    if (isChanged) load().catch(report);
    if (filesOf && filesOf === cardId) showFiles().catch(report);
  };
  const of = { collection: 'workspaces', id: workspaceId() };
  room = presence(app, { of, onEvent }, (people) => showHere(people).catch(report));
  const window = { sort: 'position', limit: 1000, populate: 'assignee' };
  ends = [app.cards.live({ workspace: workspaceId() }, showCards, window), room.close];
};

/** Loads the workspaces, and shows the one in the address. */
const load = async () => {
  const wanted = { where: { user: localStorage.me }, populate: 'workspace', sort: '_id', limit: 1000 };
  const found = (await app.memberships.list(wanted)).items.filter(({ workspace }) => workspace?.title);
  const before = current;
  current = found.find(({ workspace }) => workspace._id === location.hash.slice(1)) ?? found[0];
  const link = ({ workspace: { _id, title } }) =>
    Object.assign(copy('link'), { href: `#${_id}`, textContent: title, ariaCurrent: _id === workspaceId() });
  at('workspaces').replaceChildren(...found.map(link));
  if (!current) return show('create');
  if (document.body.dataset.part !== 'board' || before?._id !== current._id) openBoard();
  show('board');
  document.body.dataset.role = current.role;
  at('columns').replaceChildren(...current.workspace.columns.map(columnSection));
  showCards(cards);
};

/** Does what the link of an email asks for, once the user has signed in, and loads the workspaces. */
const start = async () => {
  if (!(await app.auth.token())) return show('enter');
  const { verify, accept } = sessionStorage;
  if (accept && !verify && !(await app.auth.me()).emailVerified) return show('confirm');
  sessionStorage.clear();
  if (verify) await app.auth.verifyEmail({ token: verify }).catch(report);
  const accepted = accept && (await app.auth.acceptInvitation({ token: accept }).catch(report));
  if (accepted) location.hash = (await app.memberships.get(accepted._id)).workspace;
  await load();
};

const [, page] = /\/(verify|accept)[^/]*$/.exec(location.pathname) ?? [];
if (page) {
  sessionStorage[page] = new URLSearchParams(location.search).get('token');
  history.replaceState(null, '', '/');
}
at('invited').hidden = !sessionStorage.accept;

const enter = async ({ email, password, name }, how) => {
  const profile = how === 'signup' && { name: name || email.split('@')[0] };
  localStorage.me = (await app.auth[how]({ email, password, ...profile })).userId;
  await start();
};
onSubmit(at('sign-in'), enter);
for (const button of at('demo').children) {
  button.onclick = () => attempt(() => enter({ email: button.value, password: 'a shared board' }, 'login'), button);
}

onSubmit(at('code'), async ({ otp }) => {
  await app.auth.verifyEmail({ email: (await app.auth.me()).email, otp });
  await start();
});
onClick('resend', async () => app.auth.resendVerificationOtp({ email: (await app.auth.me()).email }));
for (const back of document.querySelectorAll('.back')) back.onclick = () => attempt(load, back);

at('new').onclick = () => show('create');
onSubmit(at('new-workspace'), async ({ title }) => {
  location.hash = (await app.workspaces.insert({ title, columns: ['To do', 'Doing', 'Done'] }))._id;
});
onClick('leave', () => {
  stop();
  return app.auth.logout().finally(start);
});

window.onhashchange = () => attempt(load);
// Live updates report here why they ended.
window.onerror = (_text, _file, _line, _column, error) => report(error);
attempt(start);
