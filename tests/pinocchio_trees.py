"""The trees of a model as Pinocchio has them, an oracle for their dynamics.

Pinocchio measures the velocity of a ball joint in the child's axes, and that of a free joint too, linear part first:
v_pin = B v.
"""

import numpy as np
import pinocchio as pin

from contactlab.physics.core.model import JointType
from contactlab.physics.shapes.shapes import quat_to_matrix


class PinocchioTree:
    def __init__(self, model):
        self.ours, self.model = model, pin.Model()
        self.model.gravity.linear = model.gravity
        joints, trees = model.joints, model.trees
        self.joint_of, self.body_in_joint = [], []
        armature = []
        for link, j in enumerate(trees.joint):
            parent = trees.parent[link]
            above = self.joint_of[parent] if parent >= 0 else 0
            frame = self.body_in_joint[parent] if parent >= 0 else pin.SE3.Identity()
            kind, axes = JointType(int(joints.type[j])), joints.axis[j]
            place = frame * pin.SE3(np.eye(3), joints.anchor_parent[j])
            R = quat_to_matrix(joints.rest[j])
            body = pin.SE3(R, -R @ joints.anchor_child[j])
            pin_joint = {
                JointType.HINGE: lambda a=axes: pin.JointModelRevoluteUnaligned(a[0]),
                JointType.SLIDER: lambda a=axes: pin.JointModelPrismaticUnaligned(a[0]),
                JointType.UNIVERSAL: lambda a=axes: pin.JointModelUniversal(a[0], a[1]),
                JointType.BALL: pin.JointModelSpherical, JointType.FREE: pin.JointModelFreeFlyer,
            }.get(kind)
            if kind == JointType.FREE:
                place = pin.SE3.Identity()
            if pin_joint is None:  # fixed
                index, body = above, place * body
            else:
                index = self.model.addJoint(above, pin_joint(), place, f"joint {link}")
                armature += [float(joints.armature[j])] * (trees.first_v[link + 1] - trees.first_v[link])
            b = trees.body[link]
            inertia = pin.Inertia(float(model.mass[b]), np.zeros(3), np.diag(model.inertia[b]))
            self.model.appendBodyToJoint(index, inertia, body)
            self.joint_of.append(index)
            self.body_in_joint.append(body)
        self.model.armature = np.array(armature)
        self.data = self.model.createData()

    def coordinates(self, q, v):
        """q, v and B as Pinocchio has them."""
        q_pin, B = q.copy(), np.eye(len(v))
        for link, kind in self._kinds():
            i, k = self.ours.trees.first_q[link], self.ours.trees.first_v[link]
            if kind == JointType.BALL:
                q_pin[i : i + 4] = np.roll(q[i : i + 4], -1)
                B[k : k + 3, k : k + 3] = quat_to_matrix(q[i : i + 4]).T
            if kind == JointType.FREE:
                q_pin[i : i + 7] = [*q[i + 4 : i + 7], *np.roll(q[i : i + 4], -1)]
                B[k : k + 6, k : k + 6] = np.kron([[0, 1], [1, 0]], quat_to_matrix(q[i : i + 4]).T)
        return q_pin, B @ v, B

    def drift(self, q, v):
        """Ḃ v: of a free joint -Rᵀ (ω × v)."""
        drift = np.zeros(len(v))
        for link, kind in self._kinds():
            i, k = self.ours.trees.first_q[link], self.ours.trees.first_v[link]
            if kind == JointType.FREE:
                drift[k : k + 3] = -quat_to_matrix(q[i : i + 4]).T @ np.cross(v[k : k + 3], v[k + 3 : k + 6])
        return drift

    def _kinds(self):
        return [(link, JointType(int(self.ours.joints.type[j]))) for link, j in enumerate(self.ours.trees.joint)]
