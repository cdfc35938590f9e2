/** What a developer may do in a project; each role includes those before it. A project has one owner. */
export type Role = 'viewer' | 'admin' | 'owner';

/** The roles that members can be given; the owner is whoever made the project. */
export const memberRoles = ['viewer', 'admin'] as const satisfies readonly Role[];

export type MemberRole = (typeof memberRoles)[number];

const ranks: Readonly<Record<Role, number>> = { viewer: 0, admin: 1, owner: 2 };

export const includesRole = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed];
