import { defineProjectRoutes, defineRoutes } from '../../../shared/http/route.ts';
import { IdAnswer } from '../../schemas.ts';
import { PageQuery } from '../schemas.ts';
import {
  AcceptBody,
  ChangedMemberAnswer,
  InvitationAnswer,
  InvitationPage,
  MemberChangesBody,
  MemberPage,
  MembershipAnswer,
  NewInvitationBody,
} from './schemas.ts';

const ofProjects = defineProjectRoutes('members', {
  'list-members': {
    method: 'GET',
    path: '/api/projects/{projectId}/members',
    summary: 'List the owner and the members of a project',
    query: PageQuery,
    response: { status: 200, body: MemberPage },
  },
  'update-member': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/members/{developerId}',
    summary: 'Change the role of a member immediately',
    body: MemberChangesBody,
    response: { status: 200, body: ChangedMemberAnswer },
    example: { body: { role: 'admin' } },
    errors: ['MEMBER_NOT_FOUND', 'OWNER_STAYS'],
  },
  'delete-member': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/members/{developerId}',
    role: 'viewer',
    summary: 'Remove a member immediately, or leave the project',
    response: { status: 200, body: IdAnswer },
    errors: ['MEMBER_NOT_FOUND', 'OWNER_STAYS'],
  },
  'list-invitations': {
    method: 'GET',
    path: '/api/projects/{projectId}/members/invitations',
    summary: 'List the open invitations to a project, latest first',
    query: PageQuery,
    response: { status: 200, body: InvitationPage },
  },
  'create-invitation': {
    method: 'POST',
    path: '/api/projects/{projectId}/members/invitations',
    summary: 'Invite a developer to a project by email',
    body: NewInvitationBody,
    response: { status: 201, body: InvitationAnswer },
    example: { body: { email: 'alan@example.com', role: 'viewer' } },
    errors: ['MEMBER_EXISTS', 'LIMIT_REACHED', 'EMAIL_NOT_VERIFIED'],
  },
  'delete-invitation': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/members/invitations/{id}',
    summary: 'Withdraw an open invitation',
    response: { status: 200, body: IdAnswer },
    errors: ['INVITATION_NOT_FOUND'],
  },
});

/** Outside projects, because the developer is not a member yet. Personal access tokens are rejected. */
const ofInvited = defineRoutes({
  'accept-invitation': {
    method: 'POST',
    path: '/api/invitations/accept',
    access: 'developer',
    summary: 'Accept an invitation to a project',
    body: AcceptBody,
    response: { status: 200, body: MembershipAnswer },
    example: { body: { token: 'u6bq0Jt7m2bWcYhR5sKd8uEfGzLiNo1234567890ABC' } },
    errors: ['INVITATION_NOT_FOUND'],
  },
});

export const dashboardMemberRoutes = { ...ofProjects, ...ofInvited };
